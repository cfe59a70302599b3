# What `cmake --install` puts in place: program, manual page, completions, library, headers, the CMake package
# (find_package(bapi) gives bapi::bapi), documentation and licence. CPack makes a Debian package of the same.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET bapi AND NOT SKBUILD)
  install(TARGETS bapi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  foreach(shell bash zsh fish)
    set(written ${PROJECT_BINARY_DIR}/completion/${shell})
    add_custom_command(OUTPUT ${written} COMMAND bapi completion ${shell} > ${written} VERBATIM)
    list(APPEND bapi_written ${written})
  endforeach()
  set(manual ${PROJECT_BINARY_DIR}/bapi.1)
  add_custom_command(OUTPUT ${manual} COMMAND bapi man > ${manual} VERBATIM)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completion)
  add_custom_target(bapi_manual ALL DEPENDS ${manual} ${bapi_written})

  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/completion/bash DESTINATION ${share}/bash-completion/completions RENAME bapi)
  install(FILES ${PROJECT_BINARY_DIR}/completion/zsh DESTINATION ${share}/zsh/vendor-completions RENAME _bapi)
  install(FILES ${PROJECT_BINARY_DIR}/completion/fish DESTINATION ${share}/fish/vendor_completions.d RENAME bapi.fish)
endif()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The library; not of a build whose archives its users would not find.
if(NOT BAPI_STATIC)
  install(TARGETS bapi_lib EXPORT bapi ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY src/bapi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE
          # Ours alone: they would make users need the JSON library.
          PATTERN "json_field.h" EXCLUDE PATTERN "codec_json.h" EXCLUDE)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bapi)
  install(EXPORT bapi NAMESPACE bapi:: FILE bapi-targets.cmake DESTINATION ${package_dir})
  configure_package_config_file(cmake/bapi-config.cmake.in ${PROJECT_BINARY_DIR}/bapi-config.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/bapi-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/bapi-config.cmake ${PROJECT_BINARY_DIR}/bapi-config-version.cmake
          DESTINATION ${package_dir})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bapi)
set(CPACK_PACKAGE_CONTACT "The bapi authors <bapi@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The program needs only shared libraries; who builds against the library needs these as well.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "libeigen3-dev, libfmt-dev, nlohmann-json3-dev, libsqlite3-dev, libyaml-cpp-dev, libpq-dev")
include(CPack)
