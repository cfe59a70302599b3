# Every target of ours gets these through bapi_compile_options(target).

# x86-64-v3 is AVX2 and FMA: every x86 server since 2015, never the build host alone. The program checks it at start.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(BAPI_CPU "x86-64-v3" CACHE STRING "Value of -march=; empty for the compiler's default")
else()
  set(BAPI_CPU "" CACHE STRING "Value of -march=; empty for the compiler's default")
endif()

# How far a build with sanitizers is optimised: the models are too slow without, tests only take longer to compile.
set(BAPI_SANITIZED_LEVEL -O1)

function(bapi_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Wno-sign-conversion)
  # g++ 12 sees overlapping copies in every `"text" + std::string()` of an optimised C++20 build (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(BAPI_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(BAPI_CPU)
    target_compile_options(${target} PRIVATE -march=${BAPI_CPU})
  endif()
  if(BAPI_FUZZ)
    # Every comparison and edge reports to the fuzzer, and what the standard leaves open ends the program.
    target_compile_options(${target} PRIVATE -O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all
                           -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
  if(BAPI_SANITIZE)
    # Line tables are all that a report needs; whole debug information is a third of the build's time.
    target_compile_options(${target} PRIVATE ${BAPI_SANITIZED_LEVEL} -g1 -fsanitize=address,undefined
                           -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
endfunction()

# Headers that nearly every file needs, compiled once. A third of the time of a build without.
set(BAPI_COMMON_HEADERS
    <Eigen/Core> <fmt/format.h> <algorithm> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span>
    <string> <string_view> <variant> <vector>)
