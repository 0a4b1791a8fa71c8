#include "distinct/find_distinct.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/base/group_digits.hpp>
#include <ooc/error.hpp>

#include <cmath>
#include <utility>

#include "distinct/frequent.hpp"

namespace ooc::detail::distincts {

namespace {

FoundDistinct& found_in(const OpaquePartial& partial) {
  return static_cast<FoundDistinct&>(*partial);
}

void require_possible(bool is_possible) {
  if (is_possible) return;
  throw Error(ErrorKind::bad_input, "a saved partial result has values that no data have");
}

/// Reads the entries of a table. Their hashes rise, so all are different.
template <class T>
std::vector<Entry> take_entries(ByteReader& bytes, bool has_counts) {
  const std::size_t entry_bytes = has_counts ? sizeof(Entry) : sizeof(std::uint64_t);
  std::vector<Entry> entries(bytes.take_count(entry_bytes));
  std::uint64_t hash_before = 0;
  bool is_first = true;
  for (auto& [bits, count] : entries) {
    bits = bytes.take<std::uint64_t>();
    if (has_counts) count = bytes.take<std::uint64_t>();
    require_possible((count != 0) == has_counts && bits != 0);
    const auto element = std::bit_cast<T>(static_cast<binning::BitsOf<T>>(bits));
    require_possible(!binning::is_a_nan(element) && bits_of(element) == bits);
    const std::uint64_t hash = hash_of(bits);
    require_possible(is_first || hash_before < hash);
    hash_before = hash;
    is_first = false;
  }
  return entries;
}

/// Throws Error(bad_input) unless some data have these findings. `entries`: null if there is an
/// estimate only, or no room for all.
void require_possible(const FoundDistinct& found, const std::vector<Entry>* entries,
                      bool has_counts) {
  const Seen& seen = found.seen;
  require_possible(seen.nan <= found.elements && seen.zeros <= found.elements - seen.nan);
  std::uint64_t left = found.elements - seen.nan - seen.zeros;
  if (entries == nullptr) return;
  Sketch sketch;
  if (seen.zeros != 0) sketch.add(hash_of(0));
  for (const auto& [bits, count] : *entries) {
    sketch.add(hash_of(bits));
    const std::uint64_t least = has_counts ? count : 1;
    require_possible(least <= left);
    left -= least;
  }
  require_possible(sketch == seen.sketch);
  require_possible(left == 0 || (!has_counts && !entries->empty()));
}

/// Returns the error for values that do not fit in a table, given an estimate of their number.
/// `enough_bytes`: a memory limit that suffices in any case.
Error no_room(const Table& table, double estimate, std::size_t enough_bytes) {
  const double bytes = table_bytes_for(1.05 * estimate, table.has_counts());
  const auto text = [](double number) {
    return group_digits(std::to_string(std::llround(number)));
  };
  const bool is_loaded = table.most_bytes() == Table::no_limit;
  return {
      ErrorKind::memory,
      "there are about " + text(estimate) + " distinct values, too many for the memory",
      {.why = "a table of all takes up to " + text(bytes) + " bytes" +
              (is_loaded ? ", and a part of the data had less memory than for its own"
                         : ", the limit leaves " + text(static_cast<double>(table.most_bytes()))),
       .remedies = {{RemedyAction::raise, "Options::memory_bytes",
                     std::to_string(std::llround(
                         std::min(memory_for_table(bytes), static_cast<double>(enough_bytes))))},
                    {RemedyAction::set, "DistinctOptions::estimate"}}}};
}

}  // namespace

HostBytes host_bytes_for(ElementType type, const DistinctOptions& options, const Keeping& keeping) {
  const std::size_t frequent_bytes =
      options.counts * (2 * sizeof(FrequentValue) + sizeof(DistinctValue));
  if (keeping.place == Place::bitmap) return {.fixed = Bitmap::bytes, .per_lane = marker_bytes};
  return {.fixed = keeping.table_bytes + frequent_bytes, .per_lane = lane_bytes(type)};
}

std::uint64_t Values::size() const {
  return (table ? table->size() : 0) + (bitmap ? bitmap->size() : 0) + (left ? left->size() : 0);
}

template <IsElement T>
std::shared_ptr<Values> FindDistinct<T>::make_values(Stream& stream) const {
  auto values = std::make_shared<Values>();
  if (options_.estimate) return values;
  if (keeping_.place == Place::bitmap) {
    values->bitmap = std::make_unique<Bitmap>(stream);
    if (values->bitmap->has_memory()) return values;
    values->bitmap.reset();
  }
  values->table = std::make_unique<Table>(keeping_.table_bytes, has_counts());
  if (keeping_.place != Place::table && stream.kind() != DeviceKind::cpu) {
    values->left = make_cuda_left_values();
  }
  return values;
}

template <IsElement T>
std::unique_ptr<Finder> FindDistinct<T>::make_finder(Stream& stream, const Values& values) const {
  const bool on_host = stream.kind() == DeviceKind::cpu;
  if (values.bitmap) {
    return on_host ? make_cpu_marker(type, *values.bitmap)
                   : make_cuda_marker(type, *values.bitmap, stream);
  }
  Table* const table = values.table.get();
  if (sizeof(T) <= 2) return make_small_finder(type, table, stream);
  if (on_host) return make_cpu_finder(type, table);
  return make_cuda_finder(type, table, values.left.get(), stream);
}

template <IsElement T>
OpaquePartial FindDistinct<T>::make_partial(Stream& stream) const {
  auto found = std::make_unique<FoundDistinct>();
  found->values = lender_->lend([&] { return make_values(stream); });
  found->finder = make_finder(stream, *found->values);
  return found;
}

template <IsElement T>
void FindDistinct<T>::consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
  FoundDistinct& found = found_in(partial);
  found.finder->look(stream, {reinterpret_cast<const std::byte*>(in.data), in.size * sizeof(T)});
  found.elements += in.size;
}

template <IsElement T>
void FindDistinct<T>::finish(Stream& stream, std::span<Partial> partials) const {
  for (Partial& partial : partials) {
    FoundDistinct& found = found_in(partial);
    found.seen = found.finder->finish(stream);
    if (found.seen.zeros != 0) found.seen.sketch.add(hash_of(0));
    found.finder.reset();
  }
}

template <IsElement T>
void FindDistinct<T>::merge(Partial& total, Partial& part) const {
  if (!part) return;
  lender_->end();  // the lanes of another pass begin with nothing
  if (!total) {
    total = std::move(part);
    return;
  }
  FoundDistinct& all = found_in(total);
  FoundDistinct& found = found_in(part);
  all.elements += found.elements;
  all.seen.nan += found.seen.nan;
  all.seen.zeros += found.seen.zeros;
  all.seen.sketch.merge(found.seen.sketch);
  if (all.values != found.values && all.values->table) {
    if (all.values->size() < found.values->size()) std::swap(all.values, found.values);
    all.values->table->take(*found.values->table);
  }
  part.reset();
}

template <IsElement T>
Distinct FindDistinct<T>::result(Partial total) const {
  if (!total) total = std::make_unique<FoundDistinct>();
  const FoundDistinct& found = found_in(total);
  const Seen& seen = found.seen;
  const std::uint64_t nan_values = seen.nan != 0 ? 1 : 0, zero_values = seen.zeros != 0 ? 1 : 0;
  Distinct result{.distinct = {},
                  .estimate = seen.sketch.estimate() + static_cast<double>(nan_values),
                  .values = {},
                  .count = found.elements,
                  .nan = seen.nan};
  if (options_.estimate) return result;
  const Table* const table = found.values ? found.values->table.get() : nullptr;
  if (table != nullptr && table->is_full()) {
    throw no_room(*table, result.estimate, keeping_.enough_bytes);
  }
  const std::uint64_t distinct =
      (found.values ? found.values->size() : 0) + zero_values + nan_values;
  result.distinct = distinct;
  if (!is_likely(static_cast<double>(distinct), result.estimate)) {
    throw Error(ErrorKind::internal, std::to_string(distinct) +
                                         " distinct values were found, but " +
                                         std::to_string(result.estimate) + " are estimated");
  }
  if (!has_counts()) return result;
  FrequentValues<T> frequent(options_.counts);
  frequent.add_zero(seen.zeros);
  frequent.add_nan(seen.nan);
  if (table != nullptr) table->for_each([&](const Entry& entry) { frequent.add(entry); });
  if (frequent.elements() != found.elements) {
    throw Error(ErrorKind::internal, "the counts of all values are " +
                                         std::to_string(frequent.elements()) + " together, of " +
                                         std::to_string(found.elements) + " elements");
  }
  result.values = frequent.take();
  return result;
}

template <IsElement T>
std::string FindDistinct<T>::question() const {
  const std::string what = options_.estimate ? "an estimate of the distinct"
                           : has_counts()    ? "counts of the distinct"
                                             : "the distinct";
  return std::string(name_of(type)) + ", " + what + " values";
}

template <IsElement T>
void FindDistinct<T>::save(const Partial& total, std::vector<std::byte>& out) const {
  if (keeping_.place != Place::table) {
    throw Error(ErrorKind::internal, "values that are only counted cannot be saved");
  }
  static const FoundDistinct nothing;
  const FoundDistinct& found = total ? found_in(total) : nothing;
  const Table* const table = found.values ? found.values->table.get() : nullptr;
  const bool is_full = table != nullptr && table->is_full();
  append_bytes(out, found.elements);
  append_bytes(out, found.seen.nan);
  append_bytes(out, found.seen.zeros);
  append_span(out, std::as_bytes(std::span(found.seen.sketch.ranks())));
  append_bytes(out, static_cast<std::uint8_t>(is_full ? 1 : 0));
  if (options_.estimate || is_full) return;
  append_bytes(out, table != nullptr ? table->size() : std::uint64_t{0});
  if (table == nullptr) return;
  for (std::size_t section = 0; section < Table::sections; ++section) {
    for (const auto& [bits, count] : table->entries_of(section)) {
      append_bytes(out, bits);
      if (has_counts()) append_bytes(out, count);
    }
  }
}

template <IsElement T>
void FindDistinct<T>::load(std::span<const std::byte> in, Partial& total) const {
  ByteReader bytes(in);
  auto found = std::make_unique<FoundDistinct>();
  found->elements = bytes.take<std::uint64_t>();
  found->seen.nan = bytes.take<std::uint64_t>();
  found->seen.zeros = bytes.take<std::uint64_t>();
  for (std::size_t i = 0; i < registers; ++i) {
    const auto rank = bytes.take<std::uint8_t>();
    require_possible(rank <= largest_rank);
    found->seen.sketch.raise(i, rank);
  }
  const auto is_full = bytes.take<std::uint8_t>();
  require_possible(is_full == 0 || (is_full == 1 && !options_.estimate));
  found->values = std::make_shared<Values>();
  if (!options_.estimate) {
    found->values->table = std::make_unique<Table>(keeping_.table_bytes, has_counts());
  }
  if (options_.estimate || is_full != 0) {
    require_possible(*found, nullptr, has_counts());
    if (is_full != 0) found->values->table->give_up();
  } else {
    const std::vector<Entry> entries = take_entries<T>(bytes, has_counts());
    require_possible(*found, &entries, has_counts());
    found->values->table->reserve(entries.size());
    found->values->table->add_ascending(entries);
  }
  bytes.require_end();
  total = std::move(found);
}

template <IsElement T>
std::uint64_t FindDistinct<T>::records_in(const Partial& total) const {
  return total ? found_in(total).elements : 0;
}

template class FindDistinct<std::uint8_t>;
template class FindDistinct<std::uint16_t>;
template class FindDistinct<std::uint32_t>;
template class FindDistinct<std::uint64_t>;
template class FindDistinct<std::int8_t>;
template class FindDistinct<std::int16_t>;
template class FindDistinct<std::int32_t>;
template class FindDistinct<std::int64_t>;
template class FindDistinct<Float16>;
template class FindDistinct<float>;
template class FindDistinct<double>;
template class FindDistinct<BFloat16>;

}  // namespace ooc::detail::distincts
