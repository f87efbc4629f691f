#include "value.hpp"

#include <algorithm>
#include <cmath>

#include "tamis/detail/io/frame.hpp"
#include "tamis/registry.hpp"

namespace tamis::redis {

totals all_values;

using detail::frame_header;
using detail::reader;
using detail::writer;

namespace {

constexpr std::string_view kind = "redis-value";
constexpr std::uint32_t kind_version = 1;
constexpr std::uint64_t most_options = 64;

// The filter's own frame stands inside the value's.
class into_writer final : public byte_sink {
 public:
  explicit into_writer(writer& out) : out_(out) {}
  status write(std::span<const std::byte> bytes) override {
    out_.bytes(bytes);
    return {};
  }

 private:
  writer& out_;
};

class from_reader final : public byte_source {
 public:
  explicit from_reader(reader& in) : in_(in) {}
  status read(std::span<std::byte> bytes) override {
    in_.bytes(bytes);
    return in_.state();
  }
  std::uint64_t remaining() const override { return in_.remaining(); }

 private:
  reader& in_;
};

filter_params params_of(const request& asked) {
  filter_params params{.capacity = asked.capacity, .fpr = asked.rate, .options = asked.options, .memory = &server_memory()};
  if (asked.mistakes != 0) params.options.emplace_back("mistakes", std::to_string(asked.mistakes));
  return params;
}

// A remote that holds nothing. Who asks it learns that its entries belong to no key, and leaves them as they are.
struct recorder {
  mutable std::vector<digest_range> ranges;
  template <class Visit>
  void for_each_in(digest_range range, Visit&&) const {
    if (std::find(ranges.begin(), ranges.end(), range) == ranges.end()) ranges.push_back(range);
  }
};

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [text](std::string_view start) { return text.starts_with(start); });
}

}  // namespace

hasher request::make_hasher() const { return hash == hash_family::fast ? hasher::fast(secret[0]) : hasher::keyed(secret); }

template <class Self, class Archive>
void request::visit(Self& self, Archive& archive) {
  archive(self.family, self.mode, self.filter, self.rate, self.capacity, self.scales, self.expansion, self.bucket_size,
          self.max_iterations, self.mistakes, self.memory, self.hash, self.secret[0], self.secret[1]);
  std::uint64_t options = self.options.size();
  archive(options);
  if constexpr (!std::is_const_v<Self>) {
    if (options > most_options) return archive.fail("a value has more options than any filter");
    if (archive.ok()) self.options.resize(options);
  }
  for (auto& [name, text] : self.options) archive(name, text);
}

status request::validate() const {
  if (family > family::cuckoo || mode > add_mode::multi || hash > hash_family::keyed)
    return failure{"an unknown kind of value"};
  if (!(rate > 0 && rate < 1)) return failure{"a rate that is none"};
  return {};
}

bool adapts_with_digests(std::string_view filter) { return filter == "taf" || filter == "utaf" || filter == "exaf"; }
bool adapts_alone(std::string_view filter) { return starts_with_any(filter, {"acf-", "abf"}); }

status check_offered(const request& asked) {
  TAMIS_TRY(const registry_entry* entry, registry::builtin().find(asked.filter));
  if (asked.filter == "acf-cuckooing") {
    return failure{"acf-cuckooing is not offered: its hints are not saved, so that replicas would go apart"};
  }
  for (const auto& [name, text] : asked.options) {
    if (name == "mirror" && text != "memory") return failure{"option mirror=" + text + ": a mirror has to be in memory here"};
    if (name == "mistakes") return failure{"option mistakes: say MISTAKES n"};
  }
  if (asked.mode == add_mode::set && asked.filter.starts_with("acf-")) {
    return failure{asked.filter +
                   " changes fingerprints when it makes room, so that an add which stores nothing may be lost: "
                   "MODE MULTI"};
  }
  if (asked.mistakes != 0 && asked.mode == add_mode::set && adapts_alone(entry->info->id)) {
    return failure{std::string(entry->info->id) +
                   " adapts in its table, which mode SET does not allow: MISTAKES 0 or MODE MULTI"};
  }
  return {};
}

value::value(request asked, any_filter filter, std::int64_t since)
    : asked_(std::move(asked)),
      hash_(filter.hash()),
      filter_(std::move(filter)),
      adapts_((*registry::builtin().find(asked_.filter))->can.adapt),
      recent_(since) {
  all_values.count.fetch_add(1, std::memory_order_relaxed);
}

value::~value() {
  all_values.count.fetch_sub(1, std::memory_order_relaxed);
  all_values.bytes.fetch_sub(shown_.bytes, std::memory_order_relaxed);
  all_values.keys.fetch_sub(shown_.keys, std::memory_order_relaxed);
}

// Unsigned differences: what becomes less is added as its complement.
void value::publish() noexcept {
  all_values.bytes.fetch_add(memory_.bytes - shown_.bytes, std::memory_order_relaxed);
  all_values.keys.fetch_add(items() - shown_.keys, std::memory_order_relaxed);
  shown_ = {memory_.bytes, items()};
}

result<std::unique_ptr<value>> value::create(const request& asked, std::uint64_t limit) {
  account memory{0, limit};
  const auto make = [&]() -> result<std::unique_ptr<value>> {
    const accounting scope(memory);
    TAMIS_CHECK(check_offered(asked));
    TAMIS_TRY(any_filter filter, any_filter::create(asked.filter, params_of(asked), asked.make_hasher()));
    return std::unique_ptr<value>(new value(asked, std::move(filter), recent_adds::always));
  };
  TAMIS_TRY(std::unique_ptr<value> made, make());
  made->memory_.bytes = memory.bytes;
  made->publish();
  return made;
}

// The filter's own frame is written twice over, for its sums, and so is this one around it.
status value::put(writer& out) const {
  out(asked_, counters_);
  into_writer inside(out);
  return filter_.save(inside);
}

value::saved::saved(const value& of) : of_(of), index_{{std::string(kind), kind_version, of.hash_.identity()}, {}, {}, 0} {
  detail::block_summing_sink summed(index_.blocks.block_bits);
  writer out(summed);
  of.put(out).value();
  out.finish().value();
  index_.blocks = summed.blocks();
  index_.sums = std::move(summed).take();
}

status value::saved::write(byte_sink& sink) const {
  TAMIS_CHECK(detail::write_index(sink, index_));
  writer out(sink);
  TAMIS_CHECK(of_.put(out));
  return out.finish();
}

result<std::unique_ptr<value>> value::load(byte_source& source, std::uint64_t limit, std::int64_t now) {
  account memory{0, limit};
  std::unique_ptr<value> made;
  {
    const accounting scope(memory);
    TAMIS_CHECK(detail::read_frame(source, [&](const frame_header& header, reader& in) -> status {
      if (header.kind != kind)
        return failure{"it holds '" + header.kind + "', not a value of this module", error_code::damaged};
      if (header.kind_version != kind_version) {
        return failure{"it holds version " + std::to_string(header.kind_version) + " of a value, this module reads version " +
                           std::to_string(kind_version),
                       error_code::newer_version};
      }
      request asked;
      value::counted counters;
      in(asked, counters);
      if (!in.ok()) return in.state();
      if (status offered = check_offered(asked); !offered) return offered;
      from_reader inside(in);
      TAMIS_TRY(any_filter filter, tamis::load(inside, {.hash = asked.make_hasher(), .memory = &server_memory()}));
      const std::string expected = asked.filter + (asked.mistakes != 0 ? "+mistakes" : "");
      if (filter.kind() != expected)
        return failure{"its filter is a " + filter.kind() + ", not a " + expected, error_code::damaged};
      if (counters.erased > counters.added) return failure{"more keys were erased than added", error_code::damaged};
      made.reset(new value(std::move(asked), std::move(filter), now));
      made->counters_ = counters;
      return {};
    }));
  }
  made->memory_.bytes = memory.bytes;
  made->publish();
  return made;
}

std::unique_ptr<value> value::clone() const {
  account memory;
  std::unique_ptr<value> made;
  {
    const accounting scope(memory);
    made.reset(new value(*this));
  }
  made->memory_.bytes = memory.bytes;
  made->seen_here = {};
  made->shown_ = {};
  all_values.count.fetch_add(1, std::memory_order_relaxed);
  made->publish();
  return made;
}

std::uint64_t value::count(digest d) const {
  if (filter_.can().count) return filter_.count(d).value();
  return filter_.may_contain(d) ? 1 : 0;
}

std::uint64_t value::limit_under(const change& how) const {
  if (how.must) return 0;
  if (asked_.memory == 0 || how.limit == 0) return std::max(asked_.memory, how.limit);
  return std::min(asked_.memory, how.limit);
}

value::add_result value::add(digest d, const change& how) {
  if (asked_.mode == add_mode::set && filter_.may_contain(d)) {
    note_add(d, how);  // a member from now on, though nothing is stored
    return add_result::present;
  }
  if (!asked_.scales && !how.must && filter_.keys() >= asked_.capacity) return add_result::full;
  memory_.limit = limit_under(how);
  const charge scope(*this);
  if (filter_.insert(d) != insert_result::inserted) return add_result::full;
  note_add(d, how);
  ++counters_.added;
  ++counters_.changes;
  return add_result::added;
}

// Without memory for it, the ring knows nothing of what was before: reports wait.
void value::note_add(digest d, const change& how) {
  if (!has_list()) return;
  const charge scope(*this);
  try {
    recent_.note(d, how.now, how.remembered_adds);
  } catch (const std::bad_alloc&) {
    recent_.forget(how.now);
  }
}

bool value::erase(digest d, const change& how) {
  memory_.limit = limit_under(how);
  const charge scope(*this);
  if (filter_.erase(d) != erase_result::erased) return false;
  if (counters_.erased < counters_.added) ++counters_.erased;
  ++counters_.changes;
  return true;
}

bool value::knows_adds_since(std::int64_t time, const change& how) const {
  return recent_.knows_all_since(time) && (how.master_since == recent_adds::always || how.master_since < time);
}

report_result value::report(digest d, std::int64_t checked, std::int64_t grace, const change& how) {
  if (!how.must) {
    if (!filter_.may_contain(d)) return report_result::negative;
    if (has_list() && (!knows_adds_since(checked - grace, how) || recent_.contains(d))) return report_result::recent;
  }
  if (!has_list() && !can_adapt_in_table()) return report_result::unfixable;
  memory_.limit = limit_under(how);
  const charge scope(*this);
  return note_adapt(filter_.adapt(d));
}

report_result value::note_adapt(adapt_result done) {
  switch (done) {
    case adapt_result::fixed: break;
    case adapt_result::unsupported:
    case adapt_result::unfixable: return report_result::unfixable;
    case adapt_result::is_member: return report_result::member;
    case adapt_result::not_positive: return report_result::negative;
  }
  ++counters_.fixed;
  ++counters_.changes;
  return report_result::fixed;
}

report_result value::adapt(digest d, const remote_ref& stored, const change& how) {
  memory_.limit = limit_under(how);
  const charge scope(*this);
  return note_adapt(filter_.adapt(d, stored));
}

std::vector<digest_range> value::ranges_to_adapt(digest d) {
  recorder asked_for;
  const charge scope(*this);
  (void)filter_.adapt(d, remote_ref(asked_for));
  return asked_for.ranges;
}

status value::merge(const value& other, const change& how) {
  if (asked_.mode != other.asked_.mode) return failure{"the two values have different modes", error_code::mismatch};
  const account before = memory_;
  memory_.limit = limit_under(how);
  {
    const charge scope(*this);
    if (status merged = filter_.merge(other.filter_); !merged) {
      memory_ = before;  // nothing changed, but the message is not the value's
      return merged;
    }
    recent_.forget(how.now);
  }
  counters_.added += other.counters_.added;
  counters_.erased += other.counters_.erased;
  ++counters_.changes;
  return {};
}

std::uint64_t value::capacity() const { return std::max(filter_.capacity(), asked_.capacity); }

}  // namespace tamis::redis
