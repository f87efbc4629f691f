#include "tamis/concurrent.hpp"

#include "concurrent_parts.hpp"

namespace tamis {

using namespace detail;

namespace {

using parts_base = concurrent_parts<no_filter_steps>;

}  // namespace

class concurrent_filter::parts final : public parts_base {
 public:
  explicit parts(parts_base&& made) : parts_base(std::move(made)) {}

  failure unable(const char* what) const { return {"a " + kind() + " filter cannot " + what, error_code::unsupported}; }
};

struct concurrent_filter::turn::state {
  parts& of;
  digest d;
  parts_base::turn mine;
};

concurrent_filter::concurrent_filter(std::unique_ptr<parts> made, const hasher& hash) : parts_(std::move(made)), hash_(hash) {}
concurrent_filter::concurrent_filter(concurrent_filter&&) noexcept = default;
concurrent_filter& concurrent_filter::operator=(concurrent_filter&&) noexcept = default;
concurrent_filter::~concurrent_filter() = default;

result<concurrent_filter> concurrent_filter::create(std::string_view id, const filter_params& params, hasher hash,
                                                    const concurrent_options& options) {
  TAMIS_TRY(std::unique_ptr<parts_base> made, parts_base::create(id, params, hash, options));
  return concurrent_filter(std::make_unique<parts>(std::move(*made)), hash);
}

std::string concurrent_filter::kind() const { return parts_->kind(); }
capabilities concurrent_filter::can() const { return parts_->can(); }
std::uint32_t concurrent_filter::stripes() const { return parts_->stripes(); }

insert_result concurrent_filter::insert(digest d) { return parts_->insert(d); }
insert_result concurrent_filter::insert(digest d, const remote_ref& stored) { return parts_->insert(d, stored); }
insert_result concurrent_filter::insert_if_absent(digest d) { return parts_->insert_if_absent(d); }
bool concurrent_filter::may_contain(digest d) const { return parts_->may_contain(d); }
erase_result concurrent_filter::erase(digest d) { return parts_->erase(d); }
erase_result concurrent_filter::erase(digest d, const remote_ref& stored) { return parts_->erase(d, stored); }
result<std::uint64_t> concurrent_filter::count(digest d) const { return parts_->count(d); }
adapt_result concurrent_filter::adapt(digest d) { return parts_->adapt(d); }
adapt_result concurrent_filter::adapt(digest d, const remote_ref& stored) { return parts_->adapt(d, stored); }

concurrent_filter::turn::turn(std::unique_ptr<state> held) : state_(std::move(held)) {}
concurrent_filter::turn::turn(turn&&) noexcept = default;
concurrent_filter::turn::~turn() = default;
bool concurrent_filter::turn::may_contain() const { return state_->of.may_contain(state_->d); }
insert_result concurrent_filter::turn::insert() { return state_->of.insert(state_->mine, state_->d); }
erase_result concurrent_filter::turn::erase() {
  return state_->of.can().erase ? state_->of.erase(state_->mine, state_->d) : erase_result::unsupported;
}

concurrent_filter::turn concurrent_filter::take_turn(digest d) {
  auto mine = std::make_unique<turn::state>(turn::state{*parts_, d, parts_->take_turn(d)});
  mine->mine->touch();
  return turn(std::move(mine));
}

std::size_t concurrent_filter::insert_many(const key_batch& keys, std::span<bool> out) {
  return parts_->insert_many(keys, out);
}
void concurrent_filter::may_contain_many(const key_batch& keys, std::span<bool> out) const {
  parts_->may_contain_many(keys, out);
}

result<std::size_t> concurrent_filter::erase_many(const key_batch& keys, std::span<bool> out) {
  if (!can().erase) return parts_->unable("erase");
  return parts_->erase_many(keys, out);
}

status concurrent_filter::count_many(const key_batch& keys, std::span<std::uint64_t> out) const {
  assert(out.size() >= keys.size());
  if (!can().count) return parts_->unable("count");
  parts_->count_many(keys, out);
  return {};
}

status concurrent_filter::rejuvenate_many(const key_batch& keys) {
  if (!can().rejuvenate) return parts_->unable("rejuvenate");
  parts_->rejuvenate_many(keys);
  return {};
}

status concurrent_filter::expand() {
  if (!can().expand) return parts_->unable("expand");
  return parts_->expand();
}

status concurrent_filter::rebuild(const filter_params& params, const remote_ref& stored) {
  return parts_->rebuild(params, stored);
}

status concurrent_filter::clear() { return parts_->clear(); }

status concurrent_filter::merge(const concurrent_filter& other) { return parts_->merge(*other.parts_); }

std::uint64_t concurrent_filter::size() const {
  return parts_->sum([](const any_filter& filter) { return filter.size(); });
}
std::uint64_t concurrent_filter::capacity() const {
  return parts_->sum([](const any_filter& filter) { return filter.capacity(); });
}
double concurrent_filter::expected_fpr() const {
  return parts_->sum([](const any_filter& filter) { return filter.expected_fpr(); }) / stripes();
}
memory_bits concurrent_filter::bits() const {
  memory_bits all;
  parts_->for_each_filter([&](const any_filter& filter) {
    const memory_bits part = filter.bits();
    all.fast += part.fast;
    all.slow += part.slow;
  });
  return all;
}
option_list concurrent_filter::settings() const { return parts_->settings(); }
concurrent_stats concurrent_filter::stats() const { return parts_->stats(); }

status concurrent_filter::save(byte_sink& sink, save_moment moment) const {
  const saved_stripes content = parts_->saved(moment);
  const frame_header header{std::string(saved_kind), saved_stripes::version, hash_.identity()};
  return write_frame(sink, header, [&content](writer& out) { out(content); });
}
status concurrent_filter::save_file(const std::string& path, save_moment moment) const {
  return detail::save_file(path, [&](byte_sink& sink) { return save(sink, moment); });
}
std::vector<std::byte> concurrent_filter::save_bytes(save_moment moment) const {
  return detail::save_bytes([&](byte_sink& sink) { return save(sink, moment); });
}

result<concurrent_filter> concurrent_filter::load(byte_source& source, const load_options& options) {
  saved_stripes content;
  hasher hash;
  TAMIS_CHECK(read_frame(source, [&](const frame_header& header, reader& in) -> status {
    if (header.kind != saved_kind)
      return failure{"it holds a filter of the kind " + header.kind + ", not a concurrent one", error_code::mismatch};
    if (header.kind_version != saved_stripes::version) {
      return failure{"it holds version " + std::to_string(header.kind_version) +
                         " of concurrent filters, this tamis reads version " + std::to_string(saved_stripes::version),
                     error_code::newer_version};
    }
    TAMIS_TRY(hash, hasher_for(header.hash, options.hash));
    in(content);
    return in.state();
  }));
  load_options own = options;
  own.hash = hash;
  auto made = parts_base::restored(content, own);
  if (!made) return prefixed("one of its stripes: ", made);
  return concurrent_filter(std::make_unique<parts>(std::move(**made)), hash);
}
result<concurrent_filter> concurrent_filter::load_file(const std::string& path, const load_options& options) {
  return load_file_with<concurrent_filter>(path, [&](byte_source& source) { return load(source, options); });
}
result<concurrent_filter> concurrent_filter::load_bytes(std::span<const std::byte> bytes, const load_options& options) {
  memory_source source(bytes);
  return load(source, options);
}

}  // namespace tamis
