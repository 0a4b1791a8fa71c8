#include "verify/plain_check.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/observe/progress_reporter.hpp>
#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>

namespace ooc::detail::plain {
namespace {

/// Fills `memory` with the stored bytes of a source from `begin` on.
void read_bytes(const Source& source, std::uint64_t begin, std::span<std::byte> memory) {
  for (const Extent& extent : storage_of(source).section(begin, memory.size())) {
    read_exactly(files_of(source)[extent.file], extent.offset, memory.first(extent.bytes));
    memory = memory.subspan(extent.bytes);
  }
}

void swap_bytes(std::span<std::byte> elements, std::size_t element_bytes) {
  for (std::size_t i = 0; i < elements.size(); i += element_bytes) {
    std::ranges::reverse(elements.subspan(i, element_bytes));
  }
}

}  // namespace

void read_elements(const Source& source, std::uint64_t first, std::size_t element_bytes,
                   std::span<std::byte> elements) {
  const auto& field = SourceAccess::field(source);  // taken out of some records at a time
  if (!field) return read_bytes(source, first * element_bytes, elements);
  const std::size_t at_once = std::max<std::size_t>(1 * MiB / field->struct_bytes, 1);
  std::vector<std::byte> records;
  while (!elements.empty()) {
    const std::size_t count = std::min(at_once, elements.size() / element_bytes);
    records.resize(count * field->struct_bytes);
    read_bytes(source, first * field->struct_bytes, records);
    for (std::size_t i = 0; i < count; ++i) {
      const auto element =
          std::span(records).subspan(i * field->struct_bytes + field->offset, element_bytes);
      std::ranges::copy(element, elements.begin());
      elements = elements.subspan(element_bytes);
    }
    first += count;
  }
}

void decode(const DType& type, std::span<std::byte> elements) {
  if (type.is_bool) {
    for (std::byte& each : elements) each = std::min(each, std::byte{1});
  }
  if (type.swapped) swap_bytes(elements, size_of(type.element));
}

namespace {

/// The blocks of a source. Threads take them in order until none is left.
class Blocks {
 public:
  Blocks(const Source& source, std::stop_token stop)
      : source_(source),
        type_(source.type().value_or(DType{})),
        elements_before_(source.bytes_before() / source.element_bytes()),
        count_(divide_up(source.elements(), block_elements)),
        stop_(std::move(stop)) {}

  void look_at_some(std::size_t thread, const LookAtBlock& look) {
    const std::size_t element_bytes = size_of(type_.element);
    const std::uint64_t all = source_.elements();
    std::vector<std::byte> memory(std::min<std::uint64_t>(block_elements, all) * element_bytes);
    while (!stop_.stop_requested()) {
      const std::uint64_t block = taken_.fetch_add(1);
      if (block >= count_) return;
      const std::uint64_t first = block * block_elements;
      const std::uint64_t count = std::min<std::uint64_t>(block_elements, all - first);
      const auto elements = std::span(memory).first(count * element_bytes);
      read_elements(source_, first, element_bytes, elements);
      loaded_.fetch_add(1);
      decode(type_, elements);
      look(thread, elements, elements_before_ + first);
    }
  }

  /// Runs `body`. If it throws, other threads take no more blocks.
  template <class Body>
  void or_drop_the_rest(const Body& body) {
    try {
      body();
    } catch (...) {
      taken_.store(count_);
      throw;
    }
  }

  bool all_loaded() const { return loaded_.load() == count_; }

  std::uint64_t bytes_loaded() const {
    return std::min(loaded_.load() * block_elements * source_.element_bytes(), source_.bytes());
  }

  std::uint64_t in_flight() const {
    // Read first, so that the difference is never negative.
    const std::uint64_t loaded = loaded_.load();
    return std::min(taken_.load(), count_) - loaded;
  }

 private:
  const Source& source_;
  DType type_;
  std::uint64_t elements_before_;  // before this section, in its source
  std::uint64_t count_;
  std::stop_token stop_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> loaded_{0};
};

/// Starts up to `threads` threads. Fewer are enough, since any number can do the work. Throws
/// Error(memory) if not even one can be started.
void start_up_to(std::size_t threads, PassThreads& team,
                 const std::function<void(std::size_t thread)>& share) {
  for (std::size_t thread = 0; thread < threads; ++thread) {
    try {
      team.start([share, thread] { share(thread); });
    } catch (const std::exception&) {
      if (thread == 0) throw;
      return;
    }
  }
}

bool same(const Scalar& left, const Scalar& right) {
  const auto* const a = std::get_if<double>(&left);
  const auto* const b = std::get_if<double>(&right);
  if (a == nullptr || b == nullptr) return left == right;
  if (std::isnan(*a) || std::isnan(*b)) return std::isnan(*a) && std::isnan(*b);
  return *a == *b && std::signbit(*a) == std::signbit(*b);
}

}  // namespace

std::size_t threads_for(const Options& options, std::size_t look_bytes) {
  constexpr std::uint64_t longest_block = block_elements * sizeof(double);
  const std::uint64_t memory =
      options.memory_bytes != 0 ? options.memory_bytes : available_host_bytes() / 4;
  // One more than the threads: the initial value, from which the others are copied.
  const std::uint64_t room = memory - std::min<std::uint64_t>(memory, look_bytes);
  const std::size_t lanes = choose_workers(options, facts_of(DeviceKind::cpu)).reading_lanes;
  return std::clamp<std::uint64_t>(room / (look_bytes + longest_block), 1, lanes);
}

void read_all(const PassOptions& wanted, const Source& source, std::size_t threads,
              const LookAtBlock& look) {
  Blocks blocks(source, wanted.stop);
  PassThreads team({});
  start_up_to(threads, team, [&](std::size_t thread) {
    blocks.or_drop_the_rest([&] { blocks.look_at_some(thread, look); });
  });
  ProgressReporter reporter(wanted.progress, source.bytes());
  team.join([&] {
    const std::uint64_t bytes = blocks.bytes_loaded();
    blocks.or_drop_the_rest([&] { reporter.report(bytes, bytes, blocks.in_flight()); });
  });
  if (!blocks.all_loaded()) {
    throw Error(ErrorKind::interrupted, "interrupted before the result was verified");
  }
  source.check_unchanged();
}

double value_of_half(std::uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int largest_exponent = (1 << exponent_bits) - 1;
  const int bias = largest_exponent / 2;
  const int exponent = bits >> fraction_bits & largest_exponent;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == largest_exponent) {
    using Limits = std::numeric_limits<double>;
    return fraction != 0 ? Limits::quiet_NaN() : sign * Limits::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

Error difference(const Source& source, const std::string& name, const Scalar& found,
                 const Scalar& checked, const std::string& why) {
  const std::filesystem::path path = path_of(source);
  const std::string file = path.empty() ? "" : path.string() + ": ";
  return {ErrorKind::verify,
          file + name + " is " + to_string(found) + ", but " + to_string(checked) +
              " when it is computed another way",
          {.path = path,
           .why = why,
           .hint = "run it again: the same difference again is a bug, please report it with the "
                   "command; another or none is failing hardware: memory, disk or processor"}};
}

void require_same(const Source& source, const std::string& name, const Scalar& found,
                  const Scalar& checked) {
  if (same(found, checked)) return;
  throw difference(source, name, found, checked, "both ways must give the same");
}

}  // namespace ooc::detail::plain
