# cmake -DROOT=… -DOUT=… -P revision.cmake: writes a header with the commit that ROOT is at, if that has changed. Results name it.
# In an archive without git, the commit is in revision.txt: `git archive` and ./package write it there.
set(revision "unknown")
file(STRINGS ${ROOT}/cmake/revision.txt archived)
if(NOT archived MATCHES "Format")
  set(revision "${archived}")
endif()
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${ROOT} describe --always --dirty --abbrev=10 OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(revision "${found}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\n#define TAMIS_REVISION \"${revision}\"\n")
