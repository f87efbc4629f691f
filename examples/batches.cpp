// Many keys at once. A lookup in a large table waits for memory; a batch asks for the next keys' memory meanwhile, and hashes
// them on the way. Keys come in the form in which the program has them.

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <tamis/any_filter.hpp>
#include <tamis/buffered.hpp>
#include <vector>

int main() {
  auto filter = tamis::any_filter::create("cuckoo", {.capacity = 200'000, .fpr = 0.001}).value();

  std::vector<std::uint64_t> numbers(100'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * i;
  if (filter.insert_many(numbers) != numbers.size()) return 1;  // a full filter refuses keys: look at the answer

  const std::vector<std::string> words = {"sieve", "tamis", "Sieb"};
  if (filter.insert_many(words) != words.size()) return 1;

  // Keys that come one by one: collected in front of the filter, and inserted as batches.
  tamis::buffered_inserter into(filter);
  for (std::uint64_t n = 0; n < 1000; ++n) {
    if (into.insert(filter.hash()(n * n * n)) != tamis::insert_result::inserted) return 1;
  }
  if (!into.flush().ok()) return 1;  // before it is saved, for one thing

  // A column of Apache Arrow: characters in a row, and where each key begins.
  const std::string_view characters = "sievesiftwinnow";
  const std::vector<std::int32_t> offsets = {0, 5, 9, 15};
  const auto column =
      tamis::key_batch::from_offsets(std::span<const std::int32_t>(offsets), std::as_bytes(std::span(characters))).value();
  bool answers[3];
  filter.may_contain_many(column, answers);
  std::cout << "sieve " << answers[0] << ", sift " << answers[1] << ", winnow " << answers[2] << "\n";

  const auto found = std::make_unique<bool[]>(numbers.size());
  filter.may_contain_many(numbers, {found.get(), numbers.size()});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!found[i]) return 1;  // never: no filter says "no" to a key that is in
  }
  return answers[0] ? 0 : 1;
}
