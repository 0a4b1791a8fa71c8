#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/operators/fold_job.hpp>
#include <ooc/detail/parts/saved_part.hpp>
#include <ooc/fold.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ooc {

/// A FoldOperator whose partials can be saved, so that collect() can return a PartialResult. It has
/// `static constexpr std::string_view partial_name`, a name that changes when the bytes do, and is
/// merged in another order than Merge::in_order. It may have
///
///  -  `std::string question() const`: the settings that determine the result. Parts of operators
///     with other settings are refused;
///  -  `void save(const Partial&, std::vector<std::byte>& out) const`, which appends all data that
///     merge() and result() need, and `void load(std::span<const std::byte>, Partial&) const`,
///     which throws Error(bad_input) for invalid bytes. Partials that are trivially copyable
///     need neither, nor do those with member functions of these names, such as DeviceSums;
///  -  `std::uint64_t records_in(const Partial&) const`: the number of records that a partial has
///     seen. load_part() then refuses a part whose number is not that of the records it covers;
///  -  `std::vector<std::pair<std::uint64_t, std::uint64_t>> nodes_in(const Partial&) const`, if a
///     partial keeps its partitions in a tree: level and index of its nodes, of the same records;
///     none if it has no tree, so such an operator has records_in(), too.
template <class Op>
concept SavableFold = detail::Savable<Op>;

/// The partial result of a fold over a part of a dataset: see collect(). Parts of the same operator
/// merge in any order. Once they cover the whole dataset, the result has the same bits as that of
/// fold(), on devices with the same partitions (see FoldOperator).
///
/// Threads: one at a time. Lifetime: it has a copy of the operator, and needs neither the source
/// nor the coordinator, unless the operator's partials do.
template <class Value>
class PartialResult {
 public:
  /// Called by collect() and load_part().
  explicit PartialResult(detail::Found<Value> found) : found_(std::move(found)) {}

  /// Returns the ranges of records that it covers, in their order.
  std::span<const RecordRange> covers() const noexcept { return found_.cover().ranges; }
  /// Returns the number of records of the whole dataset.
  std::uint64_t records() const noexcept { return found_.cover().records; }
  /// Returns the settings of the operator (see SavableFold).
  std::string question() const { return found_.question(); }

  /// Merges another part, which is consumed. Throws Error(usage) if both cover the same record, or
  /// if the other part differs in the number of records, the operator, its settings, or the
  /// partitions of the kind of device. Does not check that both are of the same data:
  /// require_same_data() compares the files.
  void merge(PartialResult other) { found_.merge(std::move(other.found_)); }

  /// Returns this part as bytes, for load_part().
  [[nodiscard]] std::vector<std::byte> save() const { return found_.save(); }

  /// Returns the result of the whole dataset, as fold() does, and consumes this part. Throws
  /// Error(usage) if it does not cover all records.
  [[nodiscard]] Value result() && { return std::move(found_).whole_result(); }

 private:
  detail::Found<Value> found_;
};

/// Loads a part of the operator that PartialResult::save() has saved. Throws Error: `bad_input` if
/// it is damaged; `usage` if it is of another operator, or of other settings.
template <SavableFold Op>
[[nodiscard]] auto load_part(const Op& op, std::span<const std::byte> saved) {
  return PartialResult(detail::load_found(op, saved));
}

/// Folds a source, or a section of it (see section()), into a PartialResult, which can be saved,
/// and merged with those of other sections. A section begins and ends with whole partitions of the
/// operator. PassOptions::keep_partial is ignored. Throws Error as fold() does, and Error(usage)
/// for other sections.
///
///     constexpr std::size_t partition = Sum::partition_records;
///     auto [all, stats] = ooc::collect(coordinator, Sum{}, ooc::shard(prices, 0, 2, partition));
///     all.merge(ooc::collect(coordinator, Sum{}, ooc::shard(prices, 1, 2, partition)).value);
///     const double sum = std::move(all).result();
template <SavableFold Op, detail::PassSource From>
[[nodiscard]] Result<PartialResult<detail::ResultOf<Op>>> collect(Coordinator& coordinator,
                                                                  const Op& op, const From& from,
                                                                  const PassOptions& wanted = {}) {
  auto [parts, stats] = collect(coordinator, std::tuple<Op>(op), from, wanted);
  return {std::get<0>(std::move(parts)), std::move(stats)};
}

/// Collects with several operators of one Input in one pass.
template <SavableFold Op, SavableFold... Others, detail::PassSource From>
requires detail::ShareInput<Op, Others...> Result<
    std::tuple<PartialResult<detail::ResultOf<Op>>, PartialResult<detail::ResultOf<Others>>...>>
collect(Coordinator& coordinator, const std::tuple<Op, Others...>& operators, const From& from,
        const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  auto [found, stats] =
      detail::collect_all(coordinator, operators, inputs, detail::without_keep_partial(wanted));
  return std::apply(
      [&stats = stats](auto&... each) {
        using Parts = std::tuple<PartialResult<detail::ResultOf<Op>>,
                                 PartialResult<detail::ResultOf<Others>>...>;
        return Result<Parts>{Parts{PartialResult(std::move(each))...}, std::move(stats)};
      },
      found);
}

/// Rejects invalid arguments: a compiler error says why there can be no PartialResult.
template <class Op, class From>
requires(!SavableFold<Op> || !detail::PassSource<From>)
    Result<PartialResult<typename detail::AnyResult<Op>::type>> collect(
        Coordinator& /*coordinator*/, const Op& /*op*/, const From& /*from*/,
        const PassOptions& /*wanted*/ = {}) {
  if constexpr (!detail::PassSource<From>) {
    detail::explain_source<From>();
  } else if constexpr (!FoldOperator<Op>) {
    detail::explain_fold<Op>();
  } else {
    detail::explain_part<Op>();
  }
  throw Error(ErrorKind::internal, "this does not compile");
}

/// The identity of a data file when a part was computed. The name is for messages, since it may
/// differ between machines.
struct FileIdentity {
  std::string name;              ///< the path
  std::uint64_t bytes = 0;       ///< its size
  std::int64_t modified_ns = 0;  ///< time of the last write (nanoseconds since 1970)
  std::uint64_t hash = 0;        ///< XXH3-64 of both ends (64 KiB each) and 63 pages between, or
                                 ///< of the version that a server names
};

/// Returns the identity of each file of a source, and reads some 400 KiB of each local one for it.
/// Throws Error(input).
[[nodiscard]] OOC_API std::vector<FileIdentity> identity_of(const Source& source);

/// A file with parts of folds over one section (see collect()), and with the identity of their data
/// and settings: the format `ooc.partial/2`. It is 8 bytes `OOCPART\n`, the length of a header (8
/// bytes, little-endian), the header, which is JSON, the earlier findings and the saved parts one
/// after another, and the XXH3-128 of all that.
///
///     ooc::PartFile file{.question = R"({"above": 5})", .input = ooc::identity_of(prices)};
///     file.add(part);
///     ooc::write_part_file("0.part", file);
struct PartFile {
  /// JSON: all settings that determine the result. Parts merge only if these are equal.
  std::string question = "{}";
  std::string about = "{}";           ///< JSON: whatever else the program wants to keep
  std::vector<FileIdentity> input{};  ///< the files of the data
  std::uint64_t records = 0;          ///< of the whole data
  std::vector<RecordRange> covers{};  ///< the records that the parts cover, in their order
  std::vector<std::vector<std::byte>> parts{};  ///< as returned by PartialResult::save()
  /// The findings of earlier passes over all records, as returned by PartialResult::save(), if the
  /// parts depend on them. Parts merge only if they are equal.
  std::vector<std::vector<std::byte>> earlier{};

  /// Adds a part. Throws Error(usage) unless it covers the same records as the parts before.
  template <class AnyPart>
  void add(const AnyPart& part) {
    detail::add_part(*this, part.records(), part.covers(), part.save());
  }

  /// Passes the bytes of a part to `load`, and returns the PartialResult that it makes. Throws
  /// Error(bad_input) if there is no such part, or if it covers other records than the file says;
  /// and as `load` does.
  ///
  ///     auto part = file.load(0, [](auto bytes) { return ooc::load_part(Above{5}, bytes); });
  template <class Load>
  auto load(std::size_t index, const Load& load) const {
    auto part = load(detail::saved_part(*this, index));
    detail::require_covers(*this, part.records(), part.covers());
    return part;
  }
};

/// Writes a file that appears complete or not at all, and makes it durable. Throws
/// Error(output), also if the file exists and `replace` is false; Error(usage) if a member is
/// not JSON.
OOC_API void write_part_file(const std::filesystem::path& path, const PartFile& file,
                             bool replace = false);

/// Reads a part file. Throws Error: `input` if it cannot be read; `bad_input` if it is not a part
/// file, or is damaged; `usage` if a later version has written it.
[[nodiscard]] OOC_API PartFile read_part_file(const std::filesystem::path& path);

/// Describes the difference between the data of two part files; empty if there is none.
/// `ignore_times`: data files may be copies, with other times of the last write.
[[nodiscard]] OOC_API std::string difference_of_data(const PartFile& one, const PartFile& other,
                                                     bool ignore_times = false);

/// Throws unless two part files have the same question, data and earlier findings: Error(usage) or
/// Error(input_changed), with the difference and the paths. `ignore_times`: see above.
OOC_API void require_same_data(const PartFile& one, const std::filesystem::path& path,
                               const PartFile& other, const std::filesystem::path& other_path,
                               bool ignore_times = false);

}  // namespace ooc
