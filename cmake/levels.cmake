# Compiles every filter of src/filters.def once per CPU level.
#
# Code of another level than the library's own must not leak: an inline function of the standard library that was compiled with AVX2
# in one file could be the copy that the linker keeps for all. So the objects of a level are joined into one, in which every symbol but
# the entry functions is made local. tests/levels checks that this worked.

file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/src/filters.def tamis_filter_lines REGEX "^TAMIS_(FILTER|WIDE)\\(")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/filters.def)

set(TAMIS_AVX2_FLAGS -mavx2 -mbmi -mbmi2 -mpopcnt)
set(TAMIS_AVX512_FLAGS ${TAMIS_AVX2_FLAGS} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512bitalg)

# The model files of one level, generated, of the filters whose lines begin with `kinds`; their names go to `out`.
function(tamis_generate_models level kinds out)
  set(sources)
  foreach(line IN LISTS tamis_filter_lines)
    if(line MATCHES "^TAMIS_(${kinds})\\(([a-z0-9_]+), ([a-z0-9_]+)\\)")
      set(filter ${CMAKE_MATCH_2})
      set(header ${CMAKE_MATCH_3})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/models/${level}_${filter}.cpp)
      configure_file(${CMAKE_CURRENT_SOURCE_DIR}/src/model.cpp.in ${source} @ONLY)
      list(APPEND sources ${source})
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# All models begin with the same headers, which take a third of the time to compile one.
set(TAMIS_MODEL_HEADERS <string> <vector> <cmath> <algorithm> ${CMAKE_CURRENT_SOURCE_DIR}/include/tamis/detail/any/model.hpp)

function(tamis_add_level target level kinds)
  tamis_generate_models(${level} "${kinds}" sources)
  add_library(tamis_${level} OBJECT ${sources})
  # Unique symbols could not be made local.
  target_compile_options(tamis_${level} PRIVATE ${ARGN} $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_include_directories(tamis_${level} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include)
  target_link_libraries(tamis_${level} PRIVATE tamis_warnings)
  target_precompile_headers(tamis_${level} PRIVATE ${TAMIS_MODEL_HEADERS})

  set(joined ${CMAKE_CURRENT_BINARY_DIR}/tamis_${level}.o)
  set(objects "$<FILTER:$<TARGET_OBJECTS:tamis_${level}>,EXCLUDE,[.](gch|pch)$>")  # not the precompiled header
  add_custom_command(
    OUTPUT ${joined}
    COMMAND ${TAMIS_JOINER} -r --force-group-allocation -o ${joined} ${objects}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=tamis_entry_${level}_* ${joined}
    DEPENDS tamis_${level} ${objects}
    COMMAND_EXPAND_LISTS
    COMMENT "Joining the filters of level ${level}")
  set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${joined})
endfunction()

# GNU ld, whatever linker the compiler prefers: lld cannot dissolve section groups.
find_program(TAMIS_JOINER NAMES ld.bfd ld DOC "the linker that joins the objects of a CPU level")
mark_as_advanced(TAMIS_JOINER)

function(tamis_add_levels target)
  tamis_generate_models(portable "FILTER|WIDE" portable_sources)
  target_sources(${target} PRIVATE ${portable_sources})
  target_precompile_headers(${target} PRIVATE ${TAMIS_MODEL_HEADERS})

  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_OBJCOPY
     OR NOT TAMIS_JOINER)
    message(STATUS "tamis: portable CPU level only")
    return()
  endif()
  target_compile_definitions(${target} PRIVATE TAMIS_BUILT_LEVELS=1)
  tamis_add_level(${target} avx2 "FILTER|WIDE" ${TAMIS_AVX2_FLAGS})
  tamis_add_level(${target} avx512 "WIDE" ${TAMIS_AVX512_FLAGS})
endfunction()
