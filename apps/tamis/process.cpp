#include "process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include "failure.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "tamis/cpu.hpp"

namespace tamis::cli {
namespace {

using handler = void (*)(int);
handler pipe_before = SIG_DFL;
handler size_before = SIG_DFL;

// A stream that the caller closed must stay unusable: without this the next file that is opened takes its number, and text
// meant for the screen lands in a filter. Opened the wrong way round, every use of it is an error.
void keep_closed_streams_closed() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      [[maybe_unused]] const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

void prepare_process() {
  keep_closed_streams_closed();
  pipe_before = std::signal(SIGPIPE, SIG_IGN);  // a closed pipe or a file-size limit becomes an error of the write
  size_before = std::signal(SIGXFSZ, SIG_IGN);
  watch_signals();
}

[[noreturn]] void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // the shell sees what really ended the command
  std::_Exit(128 + signal);
}

}  // namespace

int run_process(int (*run)(int, char**), int argc, char** argv) {
  prepare_process();
  try {
    // The library would take the best level instead; who names a level wants to know.
    if (const auto level = chosen_cpu_level(); !level) throw command_failure(level.message());
    return run(argc, argv);
  } catch (const interrupted& by) {
    say("interrupted");
    end_by(by.signal);
  } catch (const broken_pipe&) {
    end_by(SIGPIPE);
  } catch (const std::bad_alloc&) {
    say("memory: there is not enough");
  } catch (const std::exception& error) {
    say(error.what());
  }
  return 1;
}

bool ends_by_broken_pipe() { return pipe_before != SIG_IGN; }

void restore_signals() {
  std::signal(SIGPIPE, pipe_before);
  std::signal(SIGXFSZ, size_before);
}

int show(const std::string& text) {
  output out;
  out.write(text);
  out.flush();
  return 0;
}

}  // namespace tamis::cli
