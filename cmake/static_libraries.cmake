# BAPI_STATIC: the same libraries as archives, so that the program runs where they are not installed. `make single-file` builds
# it. Debian's archives are no code for shared objects, so a Python extension cannot be made of them.
function(bapi_archive target name)
  find_library(BAPI_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${BAPI_ARCHIVE_${name}})
  target_link_libraries(${target} INTERFACE ${ARGN})
endfunction()

bapi_archive(bapi_zlib z)
bapi_archive(SQLite::SQLite3 sqlite3 bapi_zlib m ${CMAKE_DL_LIBS})
bapi_archive(yaml-cpp yaml-cpp)

# Debian has no archive of fmt; its headers hold the source. FMT_SHARED as in Debian's package: nothing else is compiled
# in another way than for the shared library, so that a compiler cache serves both.
add_library(bapi_fmt STATIC cmake/fmt.cc)
set_target_properties(bapi_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(bapi_fmt PUBLIC FMT_SHARED)
add_library(fmt::fmt ALIAS bapi_fmt)

# Debian's header of cpp-httplib needs Debian's shared library; the one of its source package is complete.
set(BAPI_HTTPLIB_DIR "" CACHE PATH "Directory of the complete httplib.h (tools/fetch-httplib)")
if(NOT EXISTS ${BAPI_HTTPLIB_DIR}/httplib.h)
  message(FATAL_ERROR "BAPI_STATIC needs the complete httplib.h: run tools/fetch-httplib DIR and pass "
                      "-DBAPI_HTTPLIB_DIR=DIR; found '${BAPI_HTTPLIB_DIR}'")
endif()
set(HTTPLIB_FOUND TRUE)

# bapi_link_statically(program): it needs nothing of the system, not even the dynamic loader. The linker would warn about
# two functions that can need shared libraries at run time: SQLite's dlopen for extensions, which are never loaded, and
# getaddrinfo, which reads numeric addresses without any.
function(bapi_link_statically program)
  target_link_options(${program} PRIVATE -static -Wl,--no-warnings)
endfunction()
