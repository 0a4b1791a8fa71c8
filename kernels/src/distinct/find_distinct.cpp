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
Error no_room(const Table& table, double estimate) {
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
                     std::to_string(std::llround(memory_for_table(bytes)))},
                    {RemedyAction::set, "DistinctOptions::estimate"}}}};
}

}  // namespace

HostBytes host_bytes_for(ElementType type, const DistinctOptions& options, const Keeping& keeping) {
  const std::size_t frequent_bytes =
      options.counts * (2 * sizeof(FrequentValue) + sizeof(DistinctValue));
  const std::size_t kept_bytes =
      keeping.place == Place::bitmap ? Bitmap::bytes : keeping.table_bytes;
  return {.fixed = kept_bytes + frequent_bytes, .per_lane = lane_bytes(type)};
}

template <IsElement T>
std::unique_ptr<Finder> FindDistinct<T>::make_finder(Stream& stream, FoundDistinct& found) const {
  const bool on_host = stream.kind() == DeviceKind::cpu;
  if (keeping_.place == Place::bitmap) {
    const auto bitmap = bitmaps_->lend([&] { return std::make_shared<Bitmap>(stream); });
    found.counted = bitmap;
    if (bitmap->has_memory()) {
      return on_host ? make_cpu_marker(type, *bitmap) : make_cuda_marker(type, *bitmap, stream);
    }
  }
  if (!options_.estimate) {
    found.table =
        tables_->lend([&] { return std::make_shared<Table>(keeping_.table_bytes, has_counts()); });
  }
  Table* const table = found.table.get();
  if (sizeof(T) <= 2) return make_small_finder(type, table, stream);
  if (on_host) return make_cpu_finder(type, table);
  CountedValues* left = nullptr;
  if (keeping_.place == Place::device) {
    found.counted = left_values_->lend(make_cuda_left_values);
    left = found.counted.get();
  }
  return make_cuda_finder(type, table, left, stream);
}

template <IsElement T>
OpaquePartial FindDistinct<T>::make_partial(Stream& stream) const {
  auto found = std::make_unique<FoundDistinct>();
  found->finder = make_finder(stream, *found);
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
  tables_->end();  // the lanes of another pass begin with nothing
  bitmaps_->end();
  left_values_->end();
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
  if (all.table != found.table) {
    if (all.table->size() < found.table->size()) std::swap(all.table, found.table);
    all.table->take(*found.table);
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
  std::uint64_t distinct = zero_values + nan_values;
  if (found.counted) distinct += found.counted->size();
  if (found.table) {
    if (found.table->is_full()) throw no_room(*found.table, result.estimate);
    distinct += found.table->size();
  }
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
  if (found.table) found.table->for_each([&](const Entry& entry) { frequent.add(entry); });
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
  static const FoundDistinct nothing;
  const FoundDistinct& found = total ? found_in(total) : nothing;
  const bool is_full = found.table && found.table->is_full();
  append_bytes(out, found.elements);
  append_bytes(out, found.seen.nan);
  append_bytes(out, found.seen.zeros);
  append_span(out, std::as_bytes(std::span(found.seen.sketch.ranks())));
  append_bytes(out, static_cast<std::uint8_t>(is_full ? 1 : 0));
  if (options_.estimate || is_full) return;
  append_bytes(out, found.table ? found.table->size() : std::uint64_t{0});
  if (!found.table) return;
  for (std::size_t section = 0; section < Table::sections; ++section) {
    for (const auto& [bits, count] : found.table->entries_of(section)) {
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
  if (options_.estimate || is_full != 0) {
    require_possible(*found, nullptr, has_counts());
    if (!options_.estimate)
      found->table = std::make_shared<Table>(keeping_.table_bytes, has_counts());
    if (is_full != 0) found->table->give_up();
  } else {
    const std::vector<Entry> entries = take_entries<T>(bytes, has_counts());
    require_possible(*found, &entries, has_counts());
    found->table = std::make_shared<Table>(keeping_.table_bytes, has_counts());
    found->table->reserve(entries.size());
    found->table->add_ascending(entries);
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
