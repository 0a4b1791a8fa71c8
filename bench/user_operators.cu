// Compares the rates of user-defined operators with simpler ones on the same bytes, in turn:
//
//   ooc-bench-operators DIRECTORY GIB [--cpu] [--direct] [ROUNDS]
//
// rows      sums of the 128 columns of a matrix, against `reduce` of its elements
// zip       values of two files at a time, against one file of as many bytes
// windows   an operator that looks at its neighbours, against one that does not look beyond a chunk
// chunks    sums of the columns in a loop of the caller, against the fold of "rows"
// resident  20 passes over data that stay on the device, against the time of one pass that reads
//           them and 19 that find them there
// filter    the half of the values that is above a half, against a map that writes as many bytes
// scan      running sums in doubles, against a map to doubles
//
// The last two write to DIRECTORY. For "to nowhere", an engine discards all writes. Its file is in
// the current directory, which must be on a disk, and takes space there but no time.
//
// With --direct, runs only the last two, with direct I/O.
//
// Creates the files that are missing (values.f32, first.f32, second.f32) and leaves them there.
// Prints rates without the start of the device, and the median and range of their ratios.

#include <ooc/chunks.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/execute.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/memory.hpp>
#include <ooc/reduce.hpp>
#include <ooc/resident.hpp>
#include <ooc/scan.hpp>

#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "nowhere.hpp"

namespace {

constexpr std::size_t columns = 128;
constexpr float threshold = 0.5f;

__global__ void add_columns(const float* data, std::size_t elements, double* sums) {
  double sum = 0;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;  // whole rows
  for (std::size_t i = first; i < elements; i += stride) sum += data[i];
  atomicAdd(sums + first % columns, sum);
}

/// Adds rows to the sums of their columns, in device memory.
void add_rows(ooc::Stream& stream, ooc::DeviceRows<const float> in, double* sums) {
  if (stream.kind() == ooc::DeviceKind::cuda) {
    constexpr unsigned threads = 2 * columns, blocks = 1024;
    add_columns<<<blocks, threads, 0, static_cast<cudaStream_t>(stream.native())>>>(in.data,
                                                                                    in.size, sums);
    return;
  }
  for (std::size_t row = 0; row < in.rows(); ++row) {
    for (std::size_t i = 0; i < columns; ++i) sums[i] += in.data[row * columns + i];
  }
}

/// Sums of columns, in device memory.
struct ColumnSums {
  using Input = ooc::Row<float>;
  struct Partial {
    ooc::Buffer on_device{};
    std::vector<double> sums = std::vector<double>(columns);
  };

  Partial make_partial(ooc::Stream& stream) const {
    Partial partial{.on_device = {stream.temporaries(), columns * sizeof(double)}};
    reset(stream, partial);
    return partial;
  }
  void reset(ooc::Stream& stream, Partial& partial) const {
    stream.fill_zero(partial.on_device.data(), columns * sizeof(double));
  }
  void consume(ooc::Stream& stream, ooc::DeviceRows<const float> in, Partial& partial) const {
    add_rows(stream, in, partial.on_device.as<double>());
  }
  void finish(ooc::Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      stream.copy(partial.sums.data(), partial.on_device.data(), columns * sizeof(double));
    }
    stream.synchronize();
  }
  void merge(Partial& total, const Partial& part) const {
    for (std::size_t i = 0; i < columns; ++i) total.sums[i] += part.sums[i];
  }
};

struct Above {
  constexpr bool operator()(float value) const { return value > threshold; }
  constexpr std::uint64_t operator()(float left, float right) const {
    return std::uint64_t{left > threshold} + std::uint64_t{right > threshold};
  }
};

struct CountAbove {
  using Input = float;
  using Partial = std::uint64_t;
  void consume(ooc::Stream& stream, ooc::DeviceSpan<const float> in, Partial& count) const {
    ooc::execute(stream, [&](auto policy) {
      count += static_cast<std::uint64_t>(thrust::count_if(policy, in.begin(), in.end(), Above{}));
    });
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct CountAboveInBoth : CountAbove {
  using Input = std::tuple<float, float>;
  void consume(ooc::Stream& stream, ooc::DeviceSpan<const float> left,
               ooc::DeviceSpan<const float> right, Partial& count) const {
    ooc::execute(stream, [&](auto policy) {
      count += thrust::inner_product(policy, left.begin(), left.end(), right.begin(),
                                     std::uint64_t{0}, thrust::plus<std::uint64_t>{}, Above{});
    });
  }
};

struct IsPeak {
  ooc::DeviceWindow<const float> in;
  constexpr bool operator()(std::ptrdiff_t i) const {
    const auto begin = -static_cast<std::ptrdiff_t>(in.before);
    const auto end = static_cast<std::ptrdiff_t>(in.size + in.after);
    return i > begin && i + 1 < end && in.at(i) > in.at(i - 1) && in.at(i) > in.at(i + 1);
  }
};

/// Counts elements that are larger than both neighbours. Its window is `width` wide on each side.
struct CountPeaks : CountAbove {
  std::size_t width;

  explicit CountPeaks(std::size_t neighbours) : width(neighbours) {}
  std::size_t before() const { return width; }
  std::size_t after() const { return width; }
  void consume(ooc::Stream& stream, ooc::DeviceWindow<const float> in, Partial& count) const {
    const thrust::counting_iterator<std::ptrdiff_t> first(0);
    ooc::execute(stream, [&](auto policy) {
      count += static_cast<std::uint64_t>(thrust::count_if(
          policy, first, first + static_cast<std::ptrdiff_t>(in.size), IsPeak{in}));
    });
  }
};

/// The upper half of each value: as many bytes as a filter keeps.
struct UpperHalf {
  using Input = float;
  using Output = std::uint16_t;
  constexpr std::uint16_t operator()(float value) const {
    return static_cast<std::uint16_t>(value * 65535);
  }
  void transform(ooc::Stream& stream, ooc::DeviceSpan<const float> in,
                 ooc::DeviceSpan<std::uint16_t> out) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, in.begin(), in.end(), out.begin(), *this);
    });
  }
};

struct KeepAbove {
  using Input = float;
  using Output = float;
  void select(ooc::Stream& stream, ooc::DeviceChunk<const float> in, ooc::DeviceSpan<float> out,
              std::uint64_t* kept) const {
    ooc::keep_if(stream, in, out, kept, Above{});
  }
};

struct Widen {
  using Input = float;
  using Output = double;
  void transform(ooc::Stream& stream, ooc::DeviceSpan<const float> in,
                 ooc::DeviceSpan<double> out) const {
    ooc::execute(stream,
                 [&](auto policy) { thrust::copy(policy, in.begin(), in.end(), out.begin()); });
  }
};

struct AddCarry {
  const double* before;
  constexpr double operator()(double sum) const { return sum + *before; }
};

struct RunningSum {
  using Input = float;
  using Output = double;
  using Carry = double;

  void begin(ooc::Stream& stream, ooc::DeviceSpan<const float> in, ooc::DeviceSpan<double> out,
             double* own) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::inclusive_scan(policy, in.begin(), in.end(), out.begin(), 0.0,
                             thrust::plus<double>{});
      thrust::copy_n(policy, out.end() - 1, 1, own);
    });
  }
  void join(ooc::Stream& stream, const double* before, const double* own, double* after) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, before, before + 1, own, after, thrust::plus<double>{});
    });
  }
  void finish(ooc::Stream& stream, ooc::DeviceSpan<double> out, const double* before) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, out.begin(), out.end(), out.begin(), AddCarry{before});
    });
  }
};

void make_file(const std::filesystem::path& path, std::uint64_t bytes) {
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) == bytes) return;
  std::ofstream file(path, std::ios::binary);
  std::vector<float> values(1 << 20);
  std::uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) * 0x1p-24f;
  }
  for (std::uint64_t done = 0; done < bytes; done += values.size() * sizeof(float)) {
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
}

double rate_of(const ooc::Stats& stats) {
  return static_cast<double>(stats.outcome.bytes) /
         (stats.timing.seconds - stats.timing.startup_seconds);
}

/// Returns the rate of the same sums in a loop of the caller.
double rate_of_loop(ooc::Coordinator& coordinator, const ooc::Source& matrix) {
  ooc::Device& device = coordinator.device();
  device.bind_to_thread();
  const auto stream = device.make_stream();
  const ooc::Buffer sums(device.working_memory(), columns * sizeof(double));
  stream->fill_zero(sums.data(), sums.size());
  ooc::Chunks chunks(coordinator, matrix);
  while (const auto chunk = chunks.next(*stream)) {
    add_rows(*stream, chunk->rows<float>(), sums.as<double>());
  }
  stream->synchronize();
  return rate_of(chunks.stats());
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Measures passes over resident data. A ratio of 1 is the time that single passes predict.
void measure_resident(ooc::Coordinator& coordinator, const ooc::Source& matrix,
                      std::size_t rounds) {
  constexpr std::size_t passes = 20;
  const auto seconds = [&](const auto& from) {
    return ooc::fold(coordinator, ColumnSums{}, from).stats.timing.seconds;
  };
  std::vector<double> ratios, reading, finding;
  std::uint64_t resident_bytes = 0;
  seconds(matrix);
  for (std::size_t i = 0; i < rounds; ++i) {
    const double reads = seconds(matrix);
    const ooc::Resident kept(coordinator, matrix);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<double> later;
    seconds(kept);
    for (std::size_t pass = 1; pass < passes; ++pass) later.push_back(seconds(kept));
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
    const double finds = median(later);
    ratios.push_back((reads + (passes - 1) * finds) / all.count());
    reading.push_back(reads);
    finding.push_back(finds);
    resident_bytes = kept.resident_bytes();
  }
  std::cout << std::fixed << std::setprecision(3) << "resident: ratio " << median(ratios) << " ("
            << *std::ranges::min_element(ratios) << " to " << *std::ranges::max_element(ratios)
            << "), " << resident_bytes << " bytes stay; a pass takes " << std::setprecision(4)
            << median(reading) << " s, then " << median(finding) << " s" << std::endl;
}

/// Measures two operators in turn.
void compare(const std::string& name, std::size_t rounds, const std::function<double()>& base,
             const std::function<double()>& other) {
  std::vector<double> ratios, rates, base_rates;
  base();
  other();
  for (std::size_t i = 0; i < rounds; ++i) {
    if (i % 2 == 0) base_rates.push_back(base());
    rates.push_back(other());
    if (i % 2 != 0) base_rates.push_back(base());
    ratios.push_back(rates.back() / base_rates.back());
  }
  std::cout << std::fixed << std::setprecision(3) << name << ": ratio " << median(ratios) << " ("
            << *std::ranges::min_element(ratios) << " to " << *std::ranges::max_element(ratios)
            << "), " << std::setprecision(2) << median(rates) / 1e9 << " against "
            << median(base_rates) / 1e9 << " GB/s" << std::endl;
}

/// Returns an engine that discards writes.
std::unique_ptr<ooc::detail::Engine> engine_to_nowhere(const ooc::detail::EngineOptions& wanted) {
  if (!wanted.writes) return ooc::detail::make_engine(wanted);
  return std::make_unique<Nowhere>(wanted.depth);
}

/// Measures operators that write to a file in `folder`.
void compare_writes(ooc::Coordinator writing, const ooc::Source& values,
                    const std::filesystem::path& folder, std::size_t rounds) {
  const std::filesystem::path made = folder / "made.npy";
  const auto target = [&](ooc::ElementType type) {
    return ooc::Target{.path = made, .type = {type}, .replace = true};
  };
  using enum ooc::ElementType;
  compare(
      "filter", rounds,
      [&] { return rate_of(ooc::map(writing, UpperHalf{}, values, target(u2)).stats); },
      [&] { return rate_of(ooc::filter(writing, KeepAbove{}, values, target(f4)).stats); });
  compare(
      "scan", rounds, [&] { return rate_of(ooc::map(writing, Widen{}, values, target(f8)).stats); },
      [&] { return rate_of(ooc::scan(writing, RunningSum{}, values, target(f8)).stats); });
  std::filesystem::remove(made);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 2) {
    std::cerr << "usage: ooc-bench-operators DIRECTORY GIB [--cpu] [--direct] [ROUNDS]\n";
    return 2;
  }
  const std::filesystem::path directory = words[0];
  const std::uint64_t bytes = std::stoull(words[1]) << 30;
  const auto device =
      std::ranges::count(words, "--cpu") != 0 ? ooc::DeviceKind::cpu : ooc::DeviceKind::cuda;
  const bool direct = std::ranges::count(words, "--direct") != 0;
  const std::size_t rounds =
      words.size() > 2 && words.back().front() != '-' ? std::stoul(words.back()) : 9;
  make_file(directory / "values.f32", bytes);
  make_file(directory / "first.f32", bytes / 2);
  make_file(directory / "second.f32", bytes / 2);
  const ooc::Source values = ooc::open(directory / "values.f32");
  ooc::Source matrix = ooc::open(directory / "values.f32");
  matrix.set_shape({bytes / sizeof(float) / columns, columns});
  const ooc::Source first = ooc::open(directory / "first.f32");
  const ooc::Source second = ooc::open(directory / "second.f32");
  ooc::Coordinator coordinator(ooc::make_device(device));
  const auto fold = [&](const auto& op, const auto& from) {
    return [&coordinator, op, &from] { return rate_of(ooc::fold(coordinator, op, from).stats); };
  };
  const auto zipped = ooc::zip(first, second);
  if (!direct) {
    compare(
        "rows", rounds, [&] { return rate_of(ooc::reduce(coordinator, values).stats); },
        fold(ColumnSums{}, matrix));
    compare("zip", rounds, fold(CountAbove{}, values), fold(CountAboveInBoth{}, zipped));
    compare("windows", rounds, fold(CountPeaks(0), values), fold(CountPeaks(1), values));
    compare("chunks", rounds, fold(ColumnSums{}, matrix),
            [&] { return rate_of_loop(coordinator, matrix); });
    measure_resident(coordinator, matrix, rounds);
  }
  ooc::Options options;
  if (direct) options.direct = ooc::DirectIo::yes;
  compare_writes(ooc::Coordinator(ooc::make_device(device), options), values, directory, rounds);
  std::cout << "to nowhere\n";
  options.make_engine = engine_to_nowhere;
  compare_writes(ooc::Coordinator(ooc::make_device(device), options), values, ".", rounds);

  const auto sums = ooc::fold(coordinator, ColumnSums{}, matrix).value.sums;
  double sum = 0;
  for (const double of_column : sums) sum += of_column;
  const ooc::Statistics all = ooc::reduce(coordinator, values).value;
  std::cout << "sum of all columns " << std::setprecision(6) << sum << ", of all elements "
            << *all.mean * static_cast<double>(all.count) << "; above " << threshold << ": "
            << ooc::fold(coordinator, CountAbove{}, values).value << " in one file, "
            << ooc::fold(coordinator, CountAboveInBoth{}, zipped).value << " in two\n";
}
