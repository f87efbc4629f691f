# cmake -DNM=… -DVERSION=… -DFUNCTIONS=… -DOUT=… [-DCORE=… -DUSERS=a|b] -P version_script.cmake: writes the linker's version script of a
# shared library. The functions listed in FUNCTIONS are exported as TAMIS_0. What the files USERS need of the archive CORE is exported as
# TAMIS_PRIVATE_<version>. All else stays inside.
cmake_policy(VERSION 3.25)
file(STRINGS ${FUNCTIONS} functions REGEX "^[a-z]")
list(JOIN functions ";\n    " listed)
set(script "TAMIS_0 {\n  global:\n    ${listed};\n  local:\n    *;\n};\n")

function(symbols out)
  execute_process(COMMAND ${NM} --format=posix --no-sort ${ARGN} OUTPUT_VARIABLE listed ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "(^|\n)_Z[^ \n]* [A-Za-z]" found "${listed}")
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

if(CORE)
  string(REPLACE "|" ";" users "${USERS}")
  symbols(wanted --undefined-only ${users})
  list(TRANSFORM wanted REPLACE "[ \n]|U$" "")
  list(REMOVE_DUPLICATES wanted)
  symbols(there --defined-only --extern-only ${CORE})
  list(FILTER there INCLUDE REGEX " [A-Z]$")  # not what every user has a copy of: inline functions
  list(TRANSFORM there REPLACE "\n| [A-Z]$" "")
  set(private)
  foreach(symbol IN LISTS wanted)
    if(symbol IN_LIST there)
      list(APPEND private ${symbol})
    endif()
  endforeach()
  list(SORT private)
  list(JOIN private ";\n    " listed)
  string(APPEND script "TAMIS_PRIVATE_${VERSION} {\n  global:\n    ${listed};\n};\n")
endif()
file(WRITE ${OUT} "${script}")
