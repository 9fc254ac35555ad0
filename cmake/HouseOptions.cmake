# Options, warnings and sanitizers. One INTERFACE target carries the flags of our own code.
option(RINGMASTER_MPI "Build the parts that communicate (run, bench, probe)" ON)
option(RINGMASTER_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})
set(RINGMASTER_REVISION "" CACHE STRING "The revision to name where there is no git (source archives)")
set(RINGMASTER_CUDA AUTO CACHE STRING "CUDA: AUTO, ON or OFF")
set(RINGMASTER_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")
option(RINGMASTER_FUZZ "Build the libFuzzer programs (clang only)" OFF)
set_property(CACHE RINGMASTER_CUDA PROPERTY STRINGS AUTO ON OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(ringmaster_options INTERFACE)
target_compile_options(ringmaster_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wsign-conversion;-Wmissing-declarations;-Wold-style-cast;-Wnon-virtual-dtor;-Woverloaded-virtual>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${RINGMASTER_WERROR}>>:-Werror>)
# GCC 12 reports overlapping copies in "text" + std::string (its bug 105651); later versions do not.
target_compile_options(ringmaster_options INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
# GCC 13 takes a reference into a registry for one into the call's arguments.
target_compile_options(ringmaster_options INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>)
# Clang does not know GCC's ivdep; it vectorises those loops after a check of its own.
target_compile_options(ringmaster_options INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-unknown-pragmas>)
if(RINGMASTER_SANITIZE)
  target_compile_options(ringmaster_options INTERFACE -fsanitize=${RINGMASTER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  target_link_options(ringmaster_options INTERFACE -fsanitize=${RINGMASTER_SANITIZE})
endif()
if(RINGMASTER_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "RINGMASTER_FUZZ=ON needs clang: set CXX=clang++-14")
  endif()
  # The libraries are instrumented; only the fuzzers themselves link libFuzzer's main.
  target_compile_options(ringmaster_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ringmaster_options INTERFACE -fsanitize=address,undefined)
endif()
