# bapi_module(name DEPENDS a b ...): the sources of src/bapi/<name> join the part of the library that bapi_part opened
# last. DEPENDS is the list of modules whose headers it may include; tools/check_layers.py reads these lines and fails the
# suite on any other include.
function(bapi_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*/*.cc)
  target_sources(${BAPI_PART} PRIVATE ${sources})
  get_target_property(most ${BAPI_PART} BAPI_UNITY_FILES)
  bapi_unity_groups(${name} ${most} ${sources})
endfunction()

# bapi_part(name LEVEL -O2 FILES 36 HEADERS <h> ...): the modules that follow are compiled at this level in a release
# build, up to so many files together. One precompiled header serves a part, and it fits one level only; HEADERS are in it
# besides the common ones.
macro(bapi_part name)
  cmake_parse_arguments(PART "" "LEVEL;FILES" "HEADERS" ${ARGN})
  set(BAPI_PART ${name})
  if(NOT TARGET ${name})
    add_library(${name} OBJECT)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON BAPI_UNITY_FILES ${PART_FILES})
    bapi_compile_options(${name})
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${PART_LEVEL}>)
    bapi_unity(${name})
    target_precompile_headers(${name} PRIVATE ${BAPI_COMMON_HEADERS} ${PART_HEADERS})
    target_link_libraries(${name} PRIVATE bapi_interface SQLite::SQLite3 yaml-cpp)
    target_sources(bapi_lib PRIVATE $<TARGET_OBJECTS:${name}>)
  endif()
endmacro()

# Files of one module are compiled together, up to so many at a time: less than half the processor time of a whole build.
# Names without linkage must then be unique within their module. BAPI_UNITY=OFF compiles each file alone, which is what
# pays while one works on a few of them.
function(bapi_unity_groups name most)
  set(index 0)
  foreach(source ${ARGN})
    math(EXPR group "${index} / ${most}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
    math(EXPR index "${index} + 1")
  endforeach()
endfunction()

function(bapi_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BAPI_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# Eigen's templates are instantiated in every part, at that part's level of optimisation, and the linker keeps the first
# instance that it meets: roundings, and with them decisions, would depend on the order of the link. Programs that must
# give the same answers meet those of the numerics first.
function(bapi_numerics_first target)
  target_link_options(${target} PRIVATE $<FILTER:$<TARGET_OBJECTS:bapi_numerics>,INCLUDE,[.]o$>)
  add_dependencies(${target} bapi_numerics)
endfunction()
