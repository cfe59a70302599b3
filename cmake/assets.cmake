# bapi_assets(target module): the files of src/bapi/<module>/assets become part of the library; `<module>_asset(name)` of
# <module>/assets.h gives their contents. A file that changes is embedded anew. "app.min.js" is app.js with what it imports
# in one piece without names and spaces, if Debian's esbuild is installed, and else empty.
find_program(BAPI_ESBUILD esbuild)

function(bapi_assets target module)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${module}/assets)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  set(bundle ${CMAKE_CURRENT_BINARY_DIR}/${module}/app.min.js)
  file(WRITE ${bundle} "")
  if(BAPI_ESBUILD AND EXISTS ${folder}/app.js)
    # Properties that no other program reads: those of what charts and pages are described by, and whatever ends in _.
    set(own "^(across|alpha|beside|caption|colour|colourOf|counted|dash|down|empty|fit|foot|gridless|hatch|insight|label|legend|\
loading|names|node|parts|pick|ramp|rim|room|sample|shape|shapes|side|stagger|update|xReach)$|_$")
    execute_process(COMMAND ${BAPI_ESBUILD} ${folder}/app.js --bundle --minify --mangle-props=${own} --charset=utf8 --log-level=error
                            --outfile=${bundle} --allow-overwrite COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(entries "")
  foreach(file ${files} ${bundle})
    if(NOT file STREQUAL bundle)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"asset(${text})asset\"},\n")
  endforeach()
  set(BAPI_ASSETS_MODULE ${module})
  set(BAPI_ASSETS_ENTRIES "${entries}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/assets.cc.in ${CMAKE_CURRENT_BINARY_DIR}/${module}_assets.cc @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${module}_assets.cc)
endfunction()
