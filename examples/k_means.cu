// Finds clusters of the rows of points.npy, which lie in the unit cube. If the points fit in the
// memory of the GPU, they are read once.

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <ooc/execute.hpp>
#include <ooc/ooc.hpp>

#include <iostream>
#include <vector>

constexpr std::size_t clusters = 8, slices = 16384;  // enough threads for a GPU

/// Adds every slices-th row to the sums of its nearest centre. The last column counts the rows.
struct Assign {
  ooc::DeviceRows<const float> in;
  const double* centres;
  double* sums;  // a number for each centre, column and slice
  constexpr void operator()(std::size_t slice) const {
    const std::size_t n = in.columns + 1;
    for (const float* row = in.data + slice * in.columns; row < in.end(); row += slices * (n - 1)) {
      double least = 1e300, *nearest = sums;
      for (std::size_t c = 0; c < clusters; ++c) {
        double distance = 0, apart = 0;
        for (std::size_t j = 0; j < in.columns; ++j, distance += apart * apart)
          apart = row[j] - centres[c * n + j];
        if (distance < least) least = distance, nearest = sums + c * n * slices;
      }
      for (std::size_t j = 0; j < n; ++j) nearest[j * slices + slice] += j < n - 1 ? row[j] : 1.0f;
    }
  }
};

struct LloydStep {
  using Input = ooc::Row<float>;
  using Partial = ooc::DeviceSums<double>;
  static constexpr auto merge_order = ooc::Merge::unordered;  // one Partial for each stream
  const std::vector<double>& centres;
  Partial make_partial(ooc::Stream& stream) const { return {stream, centres.size() * slices}; }
  void consume(ooc::Stream& stream, ooc::DeviceRows<const float> in, Partial& sums) const {
    const ooc::Buffer there(stream.temporaries(), centres.size() * sizeof(double));
    stream.copy(there.data(), centres.data(), there.size());
    const Assign assign{in, there.as<double>(), sums.data()};
    const thrust::counting_iterator<std::size_t> first(0);
    ooc::execute(stream, [&](auto policy) { thrust::for_each_n(policy, first, slices, assign); });
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const ooc::Source points = ooc::open("points.npy");
  const ooc::Resident kept(coordinator, points);
  const std::size_t n = *points.columns() + 1, all = clusters * n;
  std::vector<double> centres(all);
  for (std::size_t i = 0; i < all; ++i) centres[i] = (0.5 + i / n) / clusters;
  for (int step = 0; step < 20; ++step) {
    const auto sums = ooc::fold(coordinator, LloydStep{centres}, kept).value.values();
    std::vector<double> totals(all);
    for (std::size_t i = 0; i < sums.size(); ++i) totals[i / slices] += sums[i];
    for (std::size_t i = 0; i < all; ++i)
      if (totals[i / n * n + n - 1] != 0) centres[i] = totals[i] / totals[i / n * n + n - 1];
  }
  for (std::size_t i = 0; i < all; ++i)
    if (i % n != n - 1) std::cout << centres[i] << '\n';
}
