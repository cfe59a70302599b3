# Debian 12 packages; tools/install-deps installs them. Nothing is vendored, nothing is downloaded at build time.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)

if(BAPI_STATIC)
  include(cmake/static_libraries.cmake)
else()
  find_package(fmt 9 REQUIRED)
  find_package(SQLite3 3.38 REQUIRED)
  find_package(yaml-cpp REQUIRED)

  # Optional: studies in PostgreSQL. An archive of libpq would need those of half the system (Kerberos, LDAP, OpenSSL),
  # so that a static program has none.
  find_path(LIBPQ_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql)
  find_library(LIBPQ_LIBRARY pq)
  if(BAPI_POSTGRES AND LIBPQ_INCLUDE_DIR AND LIBPQ_LIBRARY)
    set(LIBPQ_FOUND TRUE)
  endif()

  # Optional: the server of `bapi dashboard`.
  find_package(PkgConfig)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(HTTPLIB cpp-httplib)
  endif()
  set(HTTPLIB_DEFINITIONS "${HTTPLIB_CFLAGS_OTHER}")
  list(TRANSFORM HTTPLIB_DEFINITIONS REPLACE "^-D" "")
endif()

# ccache where it is there; the two settings let it cache what uses precompiled headers.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  add_compile_options(-fpch-preprocess)
endif()
