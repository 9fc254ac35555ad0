# Run at every build: writes OUTPUT with version, git revision and build type, and touches it only when they change.
# RINGMASTER_CHANGES hashes what is not committed, so that two different dirty trees are two different programs.
set(revision "unknown")
set(changes "")
find_program(git git)
if(REVISION) # a source archive: RINGMASTER_REVISION says what git cannot
  set(revision "${REVISION}")
elseif(git AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND ${git} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(revision "unknown")
  endif()
  execute_process(COMMAND ${git} diff HEAD --no-ext-diff -- src kernels CMakeLists.txt cmake WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE difference ERROR_QUIET)
  if(difference)
    string(SHA256 changes "${difference}")
    string(SUBSTRING "${changes}" 0 12 changes)
    string(APPEND revision "+changes")
  endif()
endif()
file(WRITE "${OUTPUT}.new" "#pragma once
#define RINGMASTER_VERSION \"${VERSION}\"
#define RINGMASTER_REVISION \"${revision}\"
#define RINGMASTER_CHANGES \"${changes}\"
#define RINGMASTER_BUILD_TYPE \"${BUILD_TYPE}\"
")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different "${OUTPUT}.new" "${OUTPUT}")
file(REMOVE "${OUTPUT}.new")
