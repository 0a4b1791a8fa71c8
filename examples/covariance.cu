// Prints the covariance matrix of the columns of points.npy, from one read. Its eigenvectors are
// the principal components.

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <ooc/execute.hpp>
#include <ooc/ooc.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

/// Thread k adds up the products of columns i and j over every slices-th row. Column 0 is all ones.
struct AddProducts {
  ooc::DeviceRows<const float> in;
  std::size_t slices;
  double* sums;
  constexpr void operator()(std::size_t k) const {
    const std::size_t n = in.columns + 1, i = k / n % n, j = k % n;
    if (j > i) return;
    double sum = 0;
    for (std::size_t row = k / n / n; row < in.rows(); row += slices) {
      const float* const values = in.data + row * in.columns;
      sum += (i == 0 ? 1.0 : values[i - 1]) * (j == 0 ? 1.0 : values[j - 1]);
    }
    sums[k] += sum;
  }
};

struct Moments {
  using Input = ooc::Row<float>;
  using Partial = ooc::DeviceSums<double>;
  static constexpr auto merge_order = ooc::Merge::unordered;  // one Partial for each stream
  std::size_t n, slices = 262144 / (n * n) + 1;               // enough threads for a GPU

  Partial make_partial(ooc::Stream& stream) const { return {stream, n * n * slices}; }
  void consume(ooc::Stream& stream, ooc::DeviceRows<const float> in, Partial& sums) const {
    const thrust::counting_iterator<std::size_t> first(0);
    ooc::execute(stream, [&](auto policy) {
      thrust::for_each_n(policy, first, sums.size(), AddProducts{in, slices, sums.data()});
    });
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const ooc::Source points = ooc::open("points.npy");
  const std::size_t n = *points.columns() + 1;
  const ooc::DeviceSums<double> sums = ooc::fold(coordinator, Moments{n}, points).value;
  std::vector<double> all(n * n);  // all[0] is the number of rows
  for (std::size_t k = 0; k < sums.size(); ++k) all[k % (n * n)] += sums.values()[k];
  std::cout.precision(17);
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t j = 1; j < n; ++j) {
      const double products = all[std::max(i, j) * n + std::min(i, j)];
      std::cout << (products - all[i * n] * all[j * n] / all[0]) / (all[0] - 1) << ' ';
    }
    std::cout << '\n';
  }
}
