# cmake -DROOT=… -DOUT=… -P revision.cmake: writes a header with the commit that ROOT is at, if that has changed. Results name it.
set(revision "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${ROOT} describe --always --dirty --abbrev=10 OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(revision "${found}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\n#define TAMIS_REVISION \"${revision}\"\n")
