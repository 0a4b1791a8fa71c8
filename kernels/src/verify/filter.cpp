#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/error.hpp>
#include <ooc/filter_by.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "verify/plain_check.hpp"
#include "verify/plain_records.hpp"

// Check of filter_by(): the data are read from beginning to end, and the files beside them. Each
// record must be the next one of the file to which a plain comparison assigns it.

namespace ooc {

using namespace detail;

namespace {

/// The place of the values in records, and which of them fit.
struct PlainRule {
  plain::NumberInRecord number;
  std::function<bool(long double)> fits;
};

bool is_within(const FilterByRange& range, long double value) {
  const auto exact = [](const Scalar& end) {
    return end.is_integer() ? static_cast<long double>(std::get<int128>(end))
                            : static_cast<long double>(std::get<double>(end));
  };
  const auto& [lower, upper, column] = range;
  if (lower && !(lower->is_included ? value >= exact(lower->value) : value > exact(lower->value))) {
    return false;
  }
  if (upper && !(upper->is_included ? value <= exact(upper->value) : value < exact(upper->value))) {
    return false;
  }
  return value == value;
}

PlainRule plain_rule(const FilterRule& rule, const Source& source) {
  if (const auto* const by_mask = std::get_if<FilterByMask>(&rule)) {
    return {plain::number_in({}, *by_mask->mask), [](long double value) { return value != 0; }};
  }
  const auto& range = std::get<FilterByRange>(rule);
  return {plain::number_in(range.column, source),
          [&range](long double value) { return is_within(range, value); }};
}

/// Returns which of some records fit.
std::vector<bool> fitting(const PlainRule& rule, std::span<const std::byte> records,
                          std::size_t record_bytes) {
  std::vector<bool> fits;
  for (std::size_t at = 0; at < records.size(); at += record_bytes) {
    fits.push_back(rule.fits(rule.number.value_in(records.subspan(at, record_bytes))));
  }
  return fits;
}

/// A file that was written, and the records that it should have.
class OutputCheck {
 public:
  OutputCheck(const Target& target, const Source& source, bool indices,
              std::uint64_t record_elements)
      : file_(open_target(target, source, indices)),
        reader_(file_, indices ? 1 : record_elements),
        left_(reader_.records()) {}

  void expect(std::uint64_t record, std::span<const std::byte> bytes) {
    records_.push_back(record);
    expected_.insert(expected_.end(), bytes.begin(), bytes.end());
  }

  /// Compares the next records of the file with those that are expected.
  void compare() {
    const std::uint64_t count = std::min<std::uint64_t>(records_.size(), left_);
    const std::vector<std::byte> found = reader_.next(count);
    const auto [at, other] = std::ranges::mismatch(found, expected_);
    if (at != found.end() || count < records_.size()) {
      const auto place = static_cast<std::size_t>(at - found.begin()) / reader_.record_bytes();
      throw wrong("its record " + std::to_string(reader_.records() - left_ + place) +
                  " is not record " + std::to_string(records_[place]) + " of the data");
    }
    left_ -= count;
    records_.clear();
    expected_.clear();
  }

  void end() const {
    if (left_ != 0) throw wrong("it has more records than fit, by " + std::to_string(left_));
  }

  std::uint64_t records() const { return reader_.records(); }

  Error wrong(const std::string& what) const {
    return {ErrorKind::verify,
            file_.name() + ": " + what,
            {.path = path_of(file_),
             .why = "a plain comparison assigns the records to files in another way",
             .hint = "run it again: the same difference again is a bug, please report it with the "
                     "command; another or none is failing hardware: memory, disk or processor"}};
  }

 private:
  static Source open_target(const Target& target, const Source& source, bool indices) {
    if (target.is_npy()) return open(target.path);
    const DType type = indices ? DType{ElementType::i8} : source.type().value_or(DType{});
    return open(target.path, {.type = target.type.value_or(type), .file = FileFormat::raw});
  }

  Source file_;
  plain::RecordReader reader_;
  std::uint64_t left_;                  // records that were not compared
  std::vector<std::uint64_t> records_;  // places in the data of those that are expected next
  std::vector<std::byte> expected_;
};

/// Returns the elements of a record: as many as all of the mask's or the column's rows have.
std::uint64_t elements_of_record(const FilterRule& rule, const Source& source) {
  const auto* const by_mask = std::get_if<FilterByMask>(&rule);
  if (source.elements() == 0) return 1;
  if (by_mask != nullptr)
    return source.elements() / std::max<std::uint64_t>(by_mask->mask->elements(), 1);
  const bool by_row = !std::get<FilterByRange>(rule).column.empty() &&
                      !(source.type() && source.type()->is_struct());
  return by_row ? source.columns().value_or(1) : 1;
}

}  // namespace

void verify_filter_by(Coordinator& coordinator, const FilterRule& rule, const Source& source,
                      const FilterTargets& targets, const Selection& found,
                      const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  const std::uint64_t record_elements = elements_of_record(rule, source);
  plain::RecordReader data(source, record_elements);
  std::deque<OutputCheck> outputs;  // which do not move
  outputs.emplace_back(targets.kept, source, targets.indices, record_elements);
  if (targets.rest) outputs.emplace_back(*targets.rest, source, targets.indices, record_elements);
  const PlainRule plain = plain_rule(rule, source);
  const auto* const by_mask = std::get_if<FilterByMask>(&rule);
  plain::RecordReader mask(by_mask != nullptr ? *by_mask->mask : source, 1);
  const std::uint64_t at_once = std::max<std::uint64_t>(4 * MiB / data.record_bytes(), 1);
  ProgressReporter reporter(wanted.progress, source.bytes());
  for (std::uint64_t first = 0; first < data.records(); first += at_once) {
    if (wanted.stop.stop_requested()) {
      throw Error(ErrorKind::interrupted, "interrupted before the result was verified");
    }
    const std::uint64_t count = std::min(at_once, data.records() - first);
    const std::vector<std::byte> records = data.next(count);
    const std::vector<bool> fits = by_mask != nullptr
                                       ? fitting(plain, mask.next(count), mask.record_bytes())
                                       : fitting(plain, records, data.record_bytes());
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t output = fits[i] ? 0 : 1;
      if (output >= outputs.size()) continue;
      const auto index = static_cast<std::int64_t>(first + i);
      outputs[output].expect(first + i, targets.indices
                                            ? std::as_bytes(std::span(&index, 1))
                                            : std::span(records).subspan(i * data.record_bytes(),
                                                                         data.record_bytes()));
    }
    for (OutputCheck& output : outputs) output.compare();
    const std::uint64_t bytes = (first + count) * record_elements * source.element_bytes();
    reporter.report(bytes, bytes, 0);
  }
  for (const OutputCheck& output : outputs) output.end();
  if (found.seen != data.records() || found.kept != outputs.front().records()) {
    throw outputs.front().wrong("it has " + std::to_string(outputs.front().records()) +
                                " records, not " + std::to_string(found.kept));
  }
  source.check_unchanged();
  if (by_mask != nullptr) by_mask->mask->check_unchanged();
}

}  // namespace ooc
