#pragma once

// Memory that the system has found before it is needed.

#include <cstdint>

namespace tamis {

// Makes the system find memory for at least so many bytes of small tables (those of filters that grow piece by piece) now,
// instead of in the middle of an insert. Finding a 2 MiB page takes 0.1 to 0.3 ms, in a virtual machine whose host has to find
// it too 5 to 10 ms. May be called at any time from any thread; the memory is kept until tables have used it.
void prepare_small_tables(std::uint64_t bytes);

// The library starts one kind of thread, which finds the next huge page for filters that grow while somebody inserts, and ends
// when it has found it; it takes no signals. This forbids or allows it (the default) from now on. Without it they grow on small
// pages, but for those that prepare_small_tables has found: lookups take up to a quarter longer.
void allow_memory_thread(bool allowed);

// While it lives, small tables that this thread makes take no huge page that has not been found yet. The next one is found by a
// thread that lives as long as that takes (if it may); tables that come before it is ready stand on small pages.
class no_waiting {
 public:
  no_waiting() noexcept;
  no_waiting(const no_waiting&) = delete;
  no_waiting& operator=(const no_waiting&) = delete;
  ~no_waiting();

 private:
  bool before_;
};

}  // namespace tamis
