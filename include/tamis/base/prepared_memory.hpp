#pragma once

// Memory that the system has found before it is needed.

#include <cstdint>

namespace tamis {

// Makes the system find memory for at least so many bytes of small tables (those of filters that grow piece by piece) now,
// instead of in the middle of an insert. Finding a 2 MiB page takes 0.1 to 0.3 ms, in a virtual machine whose host has to find
// it too 5 to 10 ms. May be called at any time from any thread; the memory is kept until tables have used it.
void prepare_small_tables(std::uint64_t bytes);

}  // namespace tamis
