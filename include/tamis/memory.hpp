#pragma once

// Where the memory of tables comes from. By default it is the system's, in huge pages where that helps. A program that counts
// or limits what its filters take gives them a resource of its own:
//
//   class limited final : public tamis::memory_resource {
//     void* allocate_zeroed(std::uint64_t bytes, std::uint64_t alignment) noexcept override {
//       if (used_.fetch_add(bytes) + bytes <= most_) {
//         if (void* memory = tamis::huge_page_memory().allocate_zeroed(bytes, alignment)) return memory;
//       }
//       used_ -= bytes;
//       return nullptr;
//     }
//     void release(void* memory, std::uint64_t bytes, std::uint64_t alignment) noexcept override { … }
//   };
//
//   tamis::any_filter::create("evergreen", {.capacity = 1000, .fpr = 0.01, .memory = &mine});   // one filter
//   tamis::set_default_memory(&mine);                                                           // the whole process
//   const tamis::memory_scope here(mine);                                                       // what this thread makes
//
// An any_filter takes everything from one resource for as long as it lives, also what it needs when it grows, adapts, merges or
// is copied: the one that it was given, or else the one that was in force when it was made or loaded. A filter of a static type
// takes each table from the resource in force at that moment. Every table goes back to where it came from, from any thread.
//
// Outside a resource are the filter object itself (below 2 KiB), lists that live for one call and follow a run of slots or the
// keys of a remote there, what a filter is saved to or read from, and the mirror of an adaptive cuckoo filter with mirror=file.

#include <atomic>
#include <cstdint>
#include <new>

namespace tamis {

namespace detail {
class memory_owners;
class mapped_tables;
}  // namespace detail

// Has to outlive all tables that came from it, and is called from every thread that changes or frees one of its filters.
class memory_resource {
 public:
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource();

  // Zeroed memory, or nullptr: refused. The alignment is a power of two of at most 64. Tables ask for multiples of 64 bytes.
  virtual void* allocate_zeroed(std::uint64_t bytes, std::uint64_t alignment) noexcept = 0;
  // Takes back what the same two numbers were answered with.
  virtual void release(void* memory, std::uint64_t bytes, std::uint64_t alignment) noexcept = 0;

 protected:
  // std::bad_alloc if 65,535 others exist.
  memory_resource();

 private:
  friend class huge_pages;
  friend class detail::memory_owners;
  friend class detail::mapped_tables;
  friend class memory_scope;
  explicit memory_resource(std::uint16_t owner) noexcept : owner_(owner) {}

  static std::atomic<bool> others_exist;  // than huge_page_memory()
  const std::uint16_t owner_;             // what a table remembers of it
};

// What filters take if nobody says otherwise: tables from 1.4 MiB on stand on 2 MiB pages of their own, small ones share such
// pages once there are many of them (src/detail/base/part_pool.hpp), the rest is malloc's.
memory_resource& huge_page_memory() noexcept;
// Plain malloc, aligned: for tools that watch every block (valgrind), and for limits that malloc keeps.
memory_resource& heap_memory();

// Of the whole process. nullptr: huge_page_memory(), the default. What was made before stays where it is.
memory_resource& default_memory() noexcept;
void set_default_memory(memory_resource* memory) noexcept;

// What this thread makes comes from here: the innermost memory_scope, or else default_memory().
memory_resource& current_memory() noexcept;

// While it lives, what this thread makes comes from the given resource, but for any_filters, which keep theirs. Scopes end in
// the reverse order of their beginning. A remote that a filter asks runs in the scope in which its remote_ref was made.
class memory_scope {
 public:
  // Requires: `from` outlives the scope and everything that is made in it.
  explicit memory_scope(memory_resource& from) noexcept : memory_scope(&from) {}
  explicit memory_scope(memory_resource* from) noexcept {  // nullptr: changes nothing
    if (has_choice() && from != nullptr) [[unlikely]]
      open(from);
  }
  memory_scope(const memory_scope&) = delete;
  memory_scope& operator=(const memory_scope&) = delete;
  ~memory_scope() {
    if (is_open_) [[unlikely]]
      close();
  }

  // Does any resource exist but huge_page_memory()? Until then scopes do nothing.
  static bool has_choice() noexcept { return memory_resource::others_exist.load(std::memory_order_relaxed); }
  // The resource in force, or nullptr while there is but one.
  static memory_resource* in_force() noexcept { return has_choice() ? &current_memory() : nullptr; }

 private:
  void open(memory_resource* from) noexcept;
  void close() noexcept;

  bool is_open_ = false;
  memory_resource* before_ = nullptr;
};

// A resource has refused so many bytes. what() names them. any_filter::create and load answer with that text as their error;
// whatever else needs memory throws it, and has changed nothing.
class memory_refused final : public std::bad_alloc {
 public:
  // `bytes`: how many were asked for.
  explicit memory_refused(std::uint64_t bytes) noexcept;
  memory_refused(const memory_refused&) noexcept = default;
  memory_refused& operator=(const memory_refused&) noexcept = default;
  ~memory_refused() override;

  const char* what() const noexcept override { return text_; }
  // How many were asked for.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t bytes_;
  char text_[80];
};

// Of huge_page_memory(): makes the system find memory for at least so many bytes of small tables (those of filters that grow
// piece by piece) now, instead of in the middle of an insert. Finding a 2 MiB page takes 0.1 to 0.3 ms, in a virtual machine
// whose host has to find it too 5 to 10 ms. May be called at any time from any thread; the memory is kept until tables have
// used it.
void prepare_small_tables(std::uint64_t bytes);

// Of huge_page_memory(), for the whole process: may a thread find the next huge page for filters that grow while somebody
// inserts? It is the only thread that the library ever starts, lives as long as that takes (about 6 ms a page in a virtual
// machine), takes no signals, and is not started unless this asks for it.
//   asked     growing filters stand on huge pages as far as they are found in time
//   not asked they stand on small pages, but for what prepare_small_tables has found: lookups there take 4 to 25 % longer
// Either way no insert waits for a huge page.
void prepare_ahead(bool asked);

// While it lives, small tables that this thread makes take no huge page that has not been found yet. For filters that grow.
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
