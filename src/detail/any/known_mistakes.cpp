#include "tamis/detail/any/known_mistakes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "tamis/detail/any/saved.hpp"
#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/mistakes/mistake_list.hpp"

namespace tamis::detail {
namespace {

constexpr std::string_view suffix = "+mistakes";

bool is_list_option(const std::pair<std::string, std::string>& option) { return option.first == shared_options[0].name; }

class model_with_mistakes final : public any_model {
 public:
  model_with_mistakes(std::unique_ptr<any_model> filter, mistake_list mistakes)
      : filter_(std::move(filter)), mistakes_(std::move(mistakes)) {}

  const any_model& plain() const override { return *filter_; }
  const mistake_list& list() const { return mistakes_; }
  std::uint64_t known_mistakes() const override { return mistakes_.size(); }

  const filter_info& info() const override { return filter_->info(); }
  capabilities can() const override {
    capabilities all = filter_->can();
    all.adapt = true;
    return all;
  }
  std::uint64_t keys() const override { return filter_->keys(); }
  std::uint64_t capacity() const override { return filter_->capacity(); }
  double expected_fpr() const override { return filter_->expected_fpr(); }
  memory_bits bits() const override {
    memory_bits all = filter_->bits();
    all.fast += mistakes_.bits();
    return all;
  }
  option_list settings() const override {
    option_list all = filter_->settings();
    all.emplace_back("mistakes", std::to_string(mistakes_.capacity()));
    return all;
  }
  std::unique_ptr<any_model> clone() const override {
    const memory_scope from(memory_);
    return std::make_unique<model_with_mistakes>(filter_->clone(), mistakes_);
  }
  result<std::unique_ptr<any_model>> emptied() const override {
    const memory_scope from(memory_);
    TAMIS_TRY(std::unique_ptr<any_model> empty, filter_->emptied());
    TAMIS_TRY(mistake_list none, mistake_list::make(mistakes_.capacity()));
    return std::unique_ptr<any_model>(std::make_unique<model_with_mistakes>(std::move(empty), std::move(none)));
  }
  void save(writer& out) const override {
    filter_->save(out);
    out(mistakes_);
  }
  status validate() const override { return filter_->validate(); }
  result<std::uint64_t> fold(double fpr) override { return filter_->fold(fpr); }

  bool may_contain(digest d) const override { return filter_->may_contain(d) && !mistakes_.contains(d); }
  // Only what the filter says "maybe" to is hashed again.
  void may_contain_many(const hasher& hash, const key_batch& keys, std::span<bool> out) const override {
    filter_->may_contain_many(hash, keys, out);
    if (mistakes_.size() == 0) return;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (out[i]) out[i] = !mistakes_.contains(keys.hash_one(hash, i));
    }
  }
  std::uint64_t count(digest d) const override { return mistakes_.contains(d) ? 0 : filter_->count(d); }

  insert_result insert(digest d) override { return taken_off(d, filter_->insert(d)); }
  insert_result insert(digest d, const remote_ref& stored) override { return taken_off(d, filter_->insert(d, stored)); }
  std::size_t insert_many(const hasher& hash, const key_batch& keys, std::span<bool> out) override;

  erase_result erase(digest d) override { return is_absent(d) ? erase_result::absent : filter_->erase(d); }
  erase_result erase(digest d, const remote_ref& stored) override {
    return is_absent(d) ? erase_result::absent : filter_->erase(d, stored);
  }
  std::size_t erase_many(const hasher& hash, const key_batch& keys, std::span<bool> out) override;

  adapt_result adapt(digest d) override {
    if (!may_contain(d)) return adapt_result::not_positive;
    const adapt_result own = filter_->can().adapt ? filter_->adapt(d) : adapt_result::unfixable;
    return own == adapt_result::unfixable ? listed(d) : own;
  }
  adapt_result adapt(digest d, const remote_ref& stored) override {
    if (!may_contain(d)) return adapt_result::not_positive;
    const adapt_result own = filter_->can().adapt ? filter_->adapt(d, stored) : adapt_result::unfixable;
    if (own != adapt_result::unfixable) return own;
    return holds(stored, d) ? adapt_result::is_member : listed(d);
  }

  status expand() override { return filter_->expand(); }
  void rejuvenate_many(const hasher& hash, const key_batch& keys) override { filter_->rejuvenate_many(hash, keys); }
  status merge(const any_model& other) override {
    return merge_with(other, [&] { return filter_->merge(other.plain()); });
  }
  status merge(const any_model& other, const remote_ref& stored) override {
    return merge_with(other, [&] { return filter_->merge(other.plain(), stored); });
  }

 private:
  insert_result taken_off(digest d, insert_result result) {
    if (result == insert_result::inserted) mistakes_.remove(d);
    return result;
  }
  // What is listed certainly is not in, where that is asked at all.
  bool is_absent(digest d) const { return filter_->can().erase && mistakes_.contains(d); }
  adapt_result listed(digest d) { return mistakes_.add(d) ? adapt_result::fixed : adapt_result::unfixable; }

  template <class Merge>
  status merge_with(const any_model& other, Merge merge);

  std::unique_ptr<any_model> filter_;
  mistake_list mistakes_;
  memory_resource* memory_ = &current_memory();
};

// Calls use(digests, first) with the digests of a batch, a part at a time.
constexpr std::size_t part_keys = 256;
template <class Use>
void for_each_part(const hasher& hash, const key_batch& keys, Use use) {
  std::array<digest, part_keys> digests;
  for (std::size_t first = 0; first < keys.size(); first += part_keys) {
    const auto part = std::span(digests).first(std::min(part_keys, keys.size() - first));
    keys.hash(hash, first, part);
    use(std::span<const digest>(part), first);
  }
}

// In parts, so that it is known which of them went in, also where the caller does not ask.
std::size_t model_with_mistakes::insert_many(const hasher& hash, const key_batch& keys, std::span<bool> out) {
  if (mistakes_.size() == 0) return filter_->insert_many(hash, keys, out);
  std::array<bool, part_keys> unasked;
  std::size_t inserted = 0;
  for_each_part(hash, keys, [&](std::span<const digest> part, std::size_t first) {
    const auto went_in = out.empty() ? std::span(unasked).first(part.size()) : out.subspan(first, part.size());
    try {
      inserted += filter_->insert_many(hash, part, went_in);
    } catch (...) {  // some are in, and nobody knows which: none of them may be listed
      for (const digest d : part) mistakes_.remove(d);
      throw;
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (went_in[i]) mistakes_.remove(part[i]);
    }
  });
  return inserted;
}

std::size_t model_with_mistakes::erase_many(const hasher& hash, const key_batch& keys, std::span<bool> out) {
  if (mistakes_.size() == 0) return filter_->erase_many(hash, keys, out);
  std::size_t erased = 0;
  for_each_part(hash, keys, [&](std::span<const digest> part, std::size_t first) {
    const auto gone = out.empty() ? out : out.subspan(first, part.size());
    if (std::none_of(part.begin(), part.end(), [this](digest d) { return mistakes_.contains(d); })) {
      erased += filter_->erase_many(hash, part, gone);
      return;
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      const bool was_in = erase(part[i]) == erase_result::erased;
      erased += was_in;
      if (!gone.empty()) gone[i] = was_in;
    }
  });
  return erased;
}

// What one of the two has listed may be a key of the other: it stays listed if the other one says "no", or has it listed too.
template <class Merge>
status model_with_mistakes::merge_with(const any_model& other, Merge merge) {
  const memory_scope from(memory_);
  TAMIS_TRY(mistake_list both, mistake_list::make(mistakes_.capacity()));
  mistakes_.for_each([&](digest d) {
    if (!other.may_contain(d)) both.add(d);
  });
  if (const auto* theirs = dynamic_cast<const model_with_mistakes*>(&other)) {
    theirs->mistakes_.for_each([&](digest d) {
      if (!may_contain(d)) both.add(d);
    });
  }
  TAMIS_CHECK(merge());
  mistakes_ = std::move(both);
  return {};
}

failure unreadable(const std::string& text) {
  return failure{"option mistakes=" + text + ": must be a whole number of entries up to " +
                 std::to_string(mistake_list::most_entries) + ", or bits per key up to 4096, as in 0.5b"};
}

// The entries that the option asks for; it is taken out of the parameters.
result<std::uint64_t> take_entries(filter_params& params, std::uint64_t fallback) {
  const auto at = std::find_if(params.options.begin(), params.options.end(), is_list_option);
  if (at == params.options.end()) return fallback;
  const std::string text = at->second;
  params.options.erase(at);
  if (std::any_of(params.options.begin(), params.options.end(), is_list_option))
    return failure{"option 'mistakes': given twice"};

  const char* const last = text.data() + text.size();
  std::uint64_t entries = 0;
  if (const auto read = std::from_chars(text.data(), last, entries); read.ec == std::errc() && read.ptr == last) {
    if (entries > mistake_list::most_entries) return unreadable(text);
    return entries;
  }
  double bits = 0;
  const auto read = std::from_chars(text.data(), last, bits, std::chars_format::fixed);
  if (read.ec != std::errc() || std::string_view(read.ptr, static_cast<std::size_t>(last - read.ptr)) != "b" ||
      !(bits > 0 && bits <= 4096))
    return unreadable(text);
  const auto capacity = static_cast<double>(std::min(params.capacity, largest_capacity));
  entries = mistake_list::entries_for(static_cast<std::uint64_t>(bits * capacity));
  if (entries == 0 && params.capacity != 0) {
    return failure{"option mistakes=" + text + ": too little for one entry at a capacity of " +
                   std::to_string(params.capacity)};
  }
  return entries;
}

// What the list takes of the bits per key is not the filter's.
status pay_for_list(filter_params& params, std::uint64_t entries) {
  if (!params.bits_per_key || params.fpr || params.capacity == 0) return {};  // nothing to pay, or for the filter to refuse
  const double each = static_cast<double>(mistake_list::bits_for(entries)) / static_cast<double>(params.capacity);
  if (*params.bits_per_key > 0 && *params.bits_per_key <= each) {
    return failure{"bits per key " + shown(*params.bits_per_key) + ": the list of " + std::to_string(entries) +
                   " known mistakes alone takes " + shown(each) + "; mistakes=0 is no list"};
  }
  if (*params.bits_per_key > 0) *params.bits_per_key -= each;
  return {};
}

}  // namespace

filter_kind parse_kind(std::string_view text) {
  if (!text.ends_with(suffix)) return {text};
  text.remove_suffix(suffix.size());
  return {text, true};
}

const std::string* list_option(const option_list& options) {
  const auto at = std::find_if(options.begin(), options.end(), is_list_option);
  return at == options.end() ? nullptr : &at->second;
}

std::string kind_of(const any_model& model) {
  std::string kind(model.info().id);
  return &model.plain() == &model ? kind : kind.append(suffix);
}

result<std::unique_ptr<any_model>> make_model(const registry& known, std::string_view kind, const filter_params& params) {
  const auto [id, has_list] = parse_kind(kind);
  TAMIS_TRY(const registry_entry* entry, known.find(id));
  filter_params own = params;
  const std::uint64_t share =
      std::min(std::max<std::uint64_t>(1, params.capacity / keys_per_mistake), mistake_list::most_entries);
  TAMIS_TRY(const std::uint64_t entries, take_entries(own, has_list ? share : 0));
  if (entries == 0) return entry->create(own);
  TAMIS_CHECK(pay_for_list(own, entries));
  TAMIS_TRY(std::unique_ptr<any_model> filter, entry->create(own));
  const memory_scope from(params.memory);
  TAMIS_TRY(mistake_list mistakes, mistake_list::make(entries));
  return std::unique_ptr<any_model>(std::make_unique<model_with_mistakes>(std::move(filter), std::move(mistakes)));
}

std::optional<list_use> list_of(const any_model& model) {
  const auto* listing = dynamic_cast<const model_with_mistakes*>(&model);
  if (listing == nullptr) return std::nullopt;
  return list_use{listing->list().capacity(), listing->list().size(), listing->list().bits()};
}

result<std::unique_ptr<any_model>> load_model(const registry& known, const frame_header& header, reader& in) {
  const auto [id, has_list] = parse_kind(header.kind);
  TAMIS_TRY(const registry_entry* entry, known.find(id));
  TAMIS_CHECK(check_version(header, *entry->info));
  TAMIS_TRY(std::unique_ptr<any_model> filter, entry->load(in));
  if (!has_list) return filter;
  mistake_list mistakes;
  in(mistakes);
  if (!in.ok()) return failure{in.state().message(), error_code::damaged};
  return std::unique_ptr<any_model>(std::make_unique<model_with_mistakes>(std::move(filter), std::move(mistakes)));
}

}  // namespace tamis::detail
