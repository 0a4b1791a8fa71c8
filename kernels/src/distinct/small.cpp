#include <ooc/error.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include "distinct/finder.hpp"
#include "histogram/count.hpp"

namespace ooc::detail::distincts {

namespace {

/// Returns bins for each value of a type of one or two bytes.
binning::KeyRanges each_value(ElementType type) {
  return {.shift = 0,
          .bits = static_cast<std::uint32_t>(8 * size_of(type)),
          .firsts = {0},
          .short_firsts = {0}};
}

template <class T>
class SmallFinder final : public Finder {
 public:
  SmallFinder(Table* table, Stream& stream)
      : table_(table),
        counter_(stream.kind() == DeviceKind::cpu
                     ? binning::make_cpu_counter(type, values_, best_simd())
                     : binning::make_cuda_counter(type, values_, stream)) {}

  void look(Stream& stream, DeviceSpan<const std::byte> data) override {
    counter_->count(stream, data);
  }

  Seen finish(Stream& stream) override {
    counter_->finish(stream);
    std::vector<std::uint64_t> counts(values_.counters());
    counter_->add_to(counts);
    Seen seen{.nan = counts.back()};
    std::vector<Entry> entries;
    for (std::size_t key = 0; key < values_.size(); ++key) {
      if (counts[key] == 0) continue;
      const T element = binning::element_of<T>(static_cast<binning::KeyOf<T>>(key));
      const Entry entry{bits_of(element), counts[key]};
      seen.sketch.add(hash_of(entry.bits));
      if (entry.bits == 0)
        seen.zeros += entry.count;
      else
        entries.push_back(entry);
    }
    if (table_ != nullptr) table_->add(entries);
    return seen;
  }

 private:
  static constexpr ElementType type = element_type_of<T>();

  Table* table_;
  binning::KeyRanges values_ = each_value(type);  // must outlive the counter
  std::unique_ptr<binning::BinCounter> counter_;
};

}  // namespace

std::unique_ptr<Finder> make_small_finder(ElementType type, Table* table, Stream& stream) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    if constexpr (sizeof(T) <= 2)
      return std::make_unique<SmallFinder<T>>(table, stream);
    else
      throw Error(ErrorKind::internal, "counters for all values of " + std::string(name_of(type)));
  });
}

}  // namespace ooc::detail::distincts
