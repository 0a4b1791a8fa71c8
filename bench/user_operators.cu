// Measures operators of users against simpler ones over the same bytes, by turns:
//
//   ooc-bench-operators DIRECTORY GIB [--cpu] [ROUNDS]
//
// rows      sums of the 128 columns of a matrix, against `reduce` of its elements
// zip       values of two files at a time, against one file of as many bytes
// windows   an operator that looks at its neighbours, against one that does not look beyond a chunk
//
// Makes the files that are missing (values.f32, first.f32, second.f32) and leaves them there.
// Prints rates without the start of the device, and the median of their ratios with its range.

#include <ooc/buffer.hpp>
#include <ooc/execute.hpp>
#include <ooc/fold.hpp>
#include <ooc/kernels/reduce.hpp>

#include <thrust/count.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

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

/// Sums of columns, in memory of the device.
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
    double* const sums = partial.on_device.as<double>();
    if (stream.native() != nullptr) {
      constexpr unsigned threads = 2 * columns, blocks = 1024;
      add_columns<<<blocks, threads, 0, static_cast<cudaStream_t>(stream.native())>>>(
          in.data, in.size, sums);
      return;
    }
    for (std::size_t row = 0; row < in.rows(); ++row) {
      for (std::size_t i = 0; i < columns; ++i) sums[i] += in.data[row * columns + i];
    }
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

/// Counts elements that are larger than both neighbours, of which it has `width` on each side.
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

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Measures two operators by turns.
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

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 2) {
    std::cerr << "usage: ooc-bench-operators DIRECTORY GIB [--cpu] [ROUNDS]\n";
    return 2;
  }
  const std::filesystem::path directory = words[0];
  const std::uint64_t bytes = std::stoull(words[1]) << 30;
  const bool on_cpu = words.size() > 2 && words[2] == "--cpu";
  const std::size_t rounds =
      words.size() > 2 && words.back() != "--cpu" ? std::stoul(words.back()) : 9;
  make_file(directory / "values.f32", bytes);
  make_file(directory / "first.f32", bytes / 2);
  make_file(directory / "second.f32", bytes / 2);
  const ooc::Source values = ooc::open(directory / "values.f32");
  ooc::Source matrix = ooc::open(directory / "values.f32");
  matrix.set_shape({bytes / sizeof(float) / columns, columns});
  const ooc::Source first = ooc::open(directory / "first.f32");
  const ooc::Source second = ooc::open(directory / "second.f32");
  ooc::Coordinator coordinator(
      ooc::make_device(on_cpu ? ooc::DeviceKind::cpu : ooc::DeviceKind::cuda));
  const auto fold = [&](const auto& op, const auto& from) {
    return [&coordinator, op, &from] { return rate_of(ooc::fold(coordinator, op, from).stats); };
  };
  const auto zipped = ooc::zip(first, second);
  compare(
      "rows", rounds, [&] { return rate_of(ooc::reduce(coordinator, values).stats); },
      fold(ColumnSums{}, matrix));
  compare("zip", rounds, fold(CountAbove{}, values), fold(CountAboveInBoth{}, zipped));
  compare("windows", rounds, fold(CountPeaks(0), values), fold(CountPeaks(1), values));

  const auto sums = ooc::fold(coordinator, ColumnSums{}, matrix).value.sums;
  double sum = 0;
  for (const double of_column : sums) sum += of_column;
  const ooc::Statistics all = ooc::reduce(coordinator, values).value;
  std::cout << "sum of all columns " << std::setprecision(6) << sum << ", of all elements "
            << *all.mean * static_cast<double>(all.count) << "; above " << threshold << ": "
            << ooc::fold(coordinator, CountAbove{}, values).value << " in one file, "
            << ooc::fold(coordinator, CountAboveInBoth{}, zipped).value << " in two\n";
}
