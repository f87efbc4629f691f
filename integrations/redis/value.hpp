#pragma once

// What a key holds: a filter, how it was asked for, and what is needed to use it safely. Knows nothing of the server.
//
// Every value has a mode, chosen when it is made. "Add only if absent" loses members where something is deleted or adapted in
// the table, because the key that was not stored counts on another one's entry. So:
//   set    an add is idempotent; nothing is deleted, nothing is adapted in the table; known mistakes are listed beside it
//   multi  an add always stores; delete and adapt are allowed; the same key added again takes room again

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory.hpp"
#include "recent_adds.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/detail/io/frame.hpp"

namespace tamis::redis {

enum class family : std::uint8_t { tamis, bloom, cuckoo };  // the commands that a value was made by
enum class add_mode : std::uint8_t { set, multi };

// Everything that makes a value. Saved with it, and sent to replicas in full: they choose nothing themselves.
struct request {
  redis::family family = family::tamis;
  add_mode mode = add_mode::set;
  std::string filter = "evergreen";
  double rate = 0.01;
  std::uint64_t capacity = 0;
  bool scales = true;           // false: refuses keys beyond `capacity`
  std::uint64_t expansion = 2;  // what the INFO of the compatible commands shows
  std::uint64_t bucket_size = 2;
  std::uint64_t max_iterations = 20;
  std::uint64_t mistakes = 0;  // entries of the list of known mistakes
  std::uint64_t memory = 0;    // most bytes; 0: what the server allows
  hash_family hash = hash_family::fast;
  std::array<std::uint64_t, 2> secret = {0, 0};  // fast: the seed and 0
  option_list options = {};

  hasher make_hasher() const;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive);
  status validate() const;
};

// Is the filter offered? Not where its behaviour depends on state that is not saved, since replicas would go apart, nor with
// state outside the server.
status check_offered(const request& asked);
// Does the filter adapt with the stored digests near a mistake, and leave its table alone where there are too few of them?
// evergreen does not: its table changes even if no digest is stored.
bool adapts_with_digests(std::string_view filter);
// Does the filter adapt from a mirror or shadows of its own?
bool adapts_alone(std::string_view filter);

// Of all values of this server. Values are freed in another thread, too.
struct totals {
  std::atomic<std::uint64_t> count = 0;
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> keys = 0;
};
extern totals all_values;

enum class report_result { fixed, negative, member, recent, unfixable };

class value {
 public:
  // `limit`: most bytes, 0 for none.
  static result<std::unique_ptr<value>> create(const request& asked, std::uint64_t limit);
  // `now`: the time of loading; adds before it are not known one by one.
  static result<std::unique_ptr<value>> load(byte_source& source, std::uint64_t limit, std::int64_t now);
  value& operator=(const value&) = delete;
  ~value();
  // Its saved form, whose length is known before the first byte. Holds no copy of it.  Requires: the value stays as it is.
  class saved {
   public:
    explicit saved(const value& of);
    std::uint64_t bytes() const { return index_.payload_begin() + index_.blocks.bytes; }
    status write(byte_sink& sink) const;

   private:
    const value& of_;
    detail::frame_index index_;
  };
  status save(byte_sink& sink) const { return saved(*this).write(sink); }
  std::unique_ptr<value> clone() const;

  const request& asked() const { return asked_; }
  const any_filter& filter() const { return filter_; }
  digest digest_of(std::string_view item) const { return hash_(item); }

  bool may_contain(digest d) const { return filter_.may_contain(d); }
  void may_contain_many(std::span<const digest> digests, std::span<bool> out) const { filter_.may_contain_many(digests, out); }
  std::uint64_t count(digest d) const;

  enum class add_result { added, present, full };
  // By the rule of the mode; `always` stores even where `set` would not (multi does anyway). std::bad_alloc: nothing changed.
  struct change {
    std::int64_t now = 0;
    std::uint64_t limit = 0;                          // bytes; 0: none
    std::size_t remembered_adds = 0;                  // size of the ring, where there is one
    std::int64_t master_since = recent_adds::always;  // adds that store nothing are not sent to replicas
    bool must = false;                                // a master has said so: nothing is refused but for want of memory
  };
  add_result add(digest d, const change& how);
  bool erase(digest d, const change& how);  // Requires: can_erase()
  // `checked`: when the filter was asked, by the clock of change::now.
  report_result report(digest d, std::int64_t checked, std::int64_t grace, const change& how);
  // With the digests that are stored in ranges_to_adapt(d), which somebody else keeps.  Requires: can_adapt_in_table()
  report_result adapt(digest d, const remote_ref& stored, const change& how);
  // What adapt(d) would have to know. Changes nothing.  Requires: can_adapt_in_table(), adapts_with_digests(asked().filter)
  std::vector<digest_range> ranges_to_adapt(digest d);
  status merge(const value& other, const change& how);

  bool has_list() const { return asked_.mistakes != 0; }
  bool can_erase() const { return asked_.mode == add_mode::multi && filter_.can().erase; }
  bool can_adapt_in_table() const { return asked_.mode == add_mode::multi && !has_list() && adapts_; }

  std::uint64_t bytes() const { return memory_.bytes; }
  std::uint64_t added() const { return counters_.added; }
  std::uint64_t erased() const { return counters_.erased; }
  std::uint64_t items() const { return counters_.added - counters_.erased; }
  std::uint64_t version() const { return counters_.changes; }
  std::uint64_t mistakes_fixed() const { return counters_.fixed; }
  // The keys it takes before it has to grow or refuses.
  std::uint64_t capacity() const;

  // Since it was made or loaded here; lookups are not replicated.
  struct seen {
    std::uint64_t checks = 0;
    std::uint64_t maybes = 0;
    std::uint64_t reports = 0;
    std::uint64_t refused = 0;
  };
  mutable seen seen_here;

 private:
  value(request asked, any_filter filter, std::int64_t since);
  value(const value&) = default;

  struct counted {
    std::uint64_t added = 0;
    std::uint64_t erased = 0;
    std::uint64_t fixed = 0;
    std::uint64_t changes = 0;

    template <class Self, class Archive>
    static void visit(Self& self, Archive& archive) {
      archive(self.added, self.erased, self.fixed, self.changes);
    }
  };

  // Memory that is taken while it lives is this value's.
  class charge {
   public:
    explicit charge(value& of) : of_(of), scope_(of.memory_) {}
    charge(const charge&) = delete;
    charge& operator=(const charge&) = delete;
    ~charge() { of_.publish(); }

   private:
    value& of_;
    accounting scope_;
  };

  status put(detail::writer& out) const;
  void publish() noexcept;
  report_result note_adapt(adapt_result done);
  void note_add(digest d, const change& how);
  bool knows_adds_since(std::int64_t time, const change& how) const;
  std::uint64_t limit_under(const change& how) const;

  request asked_;
  hasher hash_;
  any_filter filter_;
  bool adapts_;  // in the table
  counted counters_;
  recent_adds recent_;
  account memory_;
  struct {
    std::uint64_t bytes = 0;
    std::uint64_t keys = 0;
  } shown_;  // what of this value is in `all_values`
};

}  // namespace tamis::redis
