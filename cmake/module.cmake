# bapi_module(name DEPENDS a b ...): the sources of src/bapi/<name> join the library. DEPENDS is the list of modules
# whose headers it may include; tools/check_layers.py reads these lines and fails the suite on any other include.
function(bapi_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  target_sources(bapi_lib PRIVATE ${sources})
endfunction()
