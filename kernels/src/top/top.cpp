#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/top.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/dry_run_passes.hpp"
#include "top/finder.hpp"

namespace ooc {

using namespace detail;

namespace {

using tops::Candidate;

void check_top(const TopOptions& options) {
  if (options.k >= 1 && options.k <= max_top) return;
  throw Error(ErrorKind::usage, "the " + std::to_string(options.k) + " best values were asked for",
              {.hint = "between 1 and " + std::to_string(max_top) + " are found"});
}

/// The best elements of a lane, of several of them, or of a loaded part.
struct FoundTop final : OpaqueState {
  std::unique_ptr<tops::Finder> finder{};  // of a lane, until it finishes
  tops::Kept kept{};
  std::uint64_t elements = 0;
};

FoundTop& top_in(const OpaquePartial& partial) {
  return static_cast<FoundTop&>(*partial);
}

/// Returns a value exactly: an integer, or as a double.
template <class T>
Scalar exact_value(T element) {
  if constexpr (is_floating<T>)
    return to_double(element);
  else
    return static_cast<int128>(element);
}

/// Host memory for the best k elements: a lane has its candidates; then there are those of all
/// lanes, those of another one, and the result.
HostBytes host_bytes_for(std::size_t k) {
  return {.fixed = k * (2 * sizeof(Candidate) + sizeof(TopValue)),
          .per_lane = tops::cpu_room(k) * sizeof(Candidate)};
}

/// Returns how many elements lanes keep: no more than the data have.
std::size_t kept_elements(const TopOptions& options, const Source& source) {
  check_top(options);
  const std::uint64_t elements = source.whole_bytes() / source.element_bytes();
  const bool is_known = !source.is_produced();
  return std::max<std::uint64_t>(is_known ? std::min(options.k, elements) : options.k, 1);
}

/// The operator of top().
template <IsElement T>
class FindTop {
 public:
  using Input = T;
  using Partial = OpaquePartial;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr bool same_bits_everywhere = true;
  static constexpr std::string_view partial_name = "ooc.top/1";

  /// Lanes keep `kept` elements, which may be fewer than are wanted, if the data have no more.
  FindTop(const TopOptions& options, std::size_t kept) : options_(options), kept_(kept) {}

  Partial make_partial(Stream& stream) const {
    auto found = std::make_unique<FoundTop>();
    const tops::Wanted wanted{kept_, options_.smallest};
    found->finder = stream.kind() == DeviceKind::cpu
                        ? tops::make_cpu_finder(type, wanted, best_simd())
                        : tops::make_cuda_finder(type, wanted, stream);
    return found;
  }

  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
    FoundTop& found = top_in(partial);
    found.finder->look(stream, {reinterpret_cast<const std::byte*>(in.data), in.size * sizeof(T)},
                       in.first);
    found.elements += in.size;
  }

  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      FoundTop& found = top_in(partial);
      found.kept = found.finder->finish(stream);
      found.finder.reset();
    }
  }

  void merge(Partial& total, Partial& part) const {
    if (!part) return;
    if (!total) total = std::make_unique<FoundTop>();
    FoundTop& all = top_in(total);
    FoundTop& found = top_in(part);
    all.elements += found.elements;
    all.kept.nan += found.kept.nan;
    std::vector<Candidate>& best = all.kept.best;
    if (best.size() < found.kept.best.size()) std::swap(best, found.kept.best);
    best.insert(best.end(), found.kept.best.begin(), found.kept.best.end());
    tops::keep_best(best, kept_);
    part.reset();  // frees its memory, which may be large
  }

  Top result(Partial total) const {
    Top top;
    if (!total) return top;
    FoundTop& found = top_in(total);
    top.count = found.elements;
    top.nan = found.kept.nan;
    std::ranges::sort(found.kept.best, tops::is_better);
    top.values.reserve(found.kept.best.size());
    const tops::Ranking<T> ranking(options_.smallest);
    for (const auto& [rank, place] : found.kept.best) {
      top.values.push_back({exact_value(ranking.element(static_cast<tops::Rank<T>>(rank))), place});
    }
    return top;
  }

  std::string question() const {
    return std::string(name_of(type)) + ", the " + std::to_string(options_.k) +
           (options_.smallest ? " smallest" : " largest");
  }

  void save(const Partial& total, std::vector<std::byte>& out) const {
    static const FoundTop nothing;
    const FoundTop& found = total ? top_in(total) : nothing;
    std::vector<Candidate> best = found.kept.best;
    std::ranges::sort(best, tops::is_better);
    append_bytes(out, found.elements);
    append_bytes(out, found.kept.nan);
    append_span(out, std::as_bytes(std::span(best)));
  }

  void load(std::span<const std::byte> in, Partial& total) const {
    ByteReader bytes(in);
    auto found = std::make_unique<FoundTop>();
    found->elements = bytes.take<std::uint64_t>();
    found->kept.nan = bytes.take<std::uint64_t>();
    require_possible(found->kept.nan <= found->elements);
    const std::uint64_t expected = std::min(options_.k, found->elements - found->kept.nan);
    require_possible(bytes.left() == expected * sizeof(Candidate));
    std::vector<Candidate>& best = found->kept.best;
    best.reserve(expected);
    const std::uint64_t last = tops::Ranking<T>(false).last;
    for (std::uint64_t i = 0; i < expected; ++i) {
      const auto candidate = bytes.take<Candidate>();
      require_possible(candidate.rank <= last &&
                       (best.empty() || tops::is_better(best.back(), candidate)));
      best.push_back(candidate);
    }
    total = std::move(found);
  }

  std::uint64_t records_in(const Partial& total) const {
    return total ? top_in(total).elements : 0;
  }
  HostBytes host_bytes() const { return host_bytes_for(kept_); }

 private:
  static constexpr ElementType type = element_type_of<T>();

  static void require_possible(bool is_possible) {
    if (is_possible) return;
    throw Error(ErrorKind::bad_input, "a saved partial result has values that are not the best");
  }

  TopOptions options_;
  std::size_t kept_;
};

}  // namespace

Result<Top> top(Coordinator& coordinator, const Source& source, const TopOptions& options,
                const PassOptions& wanted) {
  const std::size_t kept = kept_elements(options, source);
  return visit(source.element(), [&]<class T>(std::type_identity<T>) {
    return fold(coordinator, FindTop<T>(options, kept), source, wanted);
  });
}

Stats dry_run_top(const Options& machine, DeviceKind device, const Source& source,
                  const TopOptions& options, const PassOptions& wanted) {
  return dry_run_passes(machine, device, source, wanted, 1,
                        host_bytes_for(kept_elements(options, source)));
}

Result<PartialResult<Top>> collect_top(Coordinator& coordinator, const Source& section,
                                       const TopOptions& options, const PassOptions& wanted) {
  const std::size_t kept = kept_elements(options, section);
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    return collect(coordinator, FindTop<T>(options, kept), section, wanted);
  });
}

PartialResult<Top> load_top(ElementType type, const TopOptions& options,
                            std::span<const std::byte> saved) {
  check_top(options);
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return load_part(FindTop<T>(options, options.k), saved);
  });
}

}  // namespace ooc
