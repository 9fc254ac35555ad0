# cmake -DCHECK=CheckLayers.cmake -DWORK=FOLDER -P CheckLayersTest.cmake
# Plants right and wrong includes in a small tree; the check must tell them apart.
cmake_minimum_required(VERSION 3.25)

# expect(name text passes|fails words): low <- middle <- high; `net` is the MPI module. TEXT is a source of `middle`.
function(expect name text outcome words)
  set(tree ${WORK}/${name})
  file(REMOVE_RECURSE ${tree})
  file(WRITE ${tree}/src/middle/a.cpp "${text}\n")
  file(WRITE ${tree}/layers.cmake "set(MODULES low middle high net)\nset(KNOWN low middle high net)
set(USES_low)\nset(USES_middle low)\nset(USES_high middle)\nset(USES_net low)\nset(MPI_net ON)
foreach(m IN LISTS MODULES)\n  set(FOLDER_\${m} src/\${m})\nendforeach()\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DLAYERS=${tree}/layers.cmake -DROOT=${tree} -P ${CHECK}
                  RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if((outcome STREQUAL "passes" AND NOT result EQUAL 0) OR (outcome STREQUAL "fails" AND result EQUAL 0))
    message(FATAL_ERROR "${name} should be one that ${outcome}, but: ${result}\n${said}")
  endif()
  if(NOT said MATCHES "${words}")
    message(FATAL_ERROR "${name}: '${words}' is missing in: ${said}")
  endif()
endfunction()

expect(downward "#include \"low/x.hpp\"" passes "1 files keep")
expect(itself "#include \"middle/x.hpp\"\n#include <vector>\n#include <sys/mman.h>" passes "1 files keep")
expect(upward "#include \"high/x.hpp\"" fails "includes high")
expect(spaced "  #  include \"high/x.hpp\"" fails "includes high")
expect(sideways "#include \"net/x.hpp\"" fails "includes net")
expect(mpi "#include <mpi.h>" fails "mpi.h in module middle")
