// Finds the weights of the columns of points.npy with which they add up to labels.f32, by gradient
// descent. The program has its own loop over chunks, instead of an operator.

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>
#include <ooc/execute.hpp>
#include <ooc/ooc.hpp>

#include <iostream>
#include <vector>

struct Residual {
  ooc::DeviceRows<const float> points, labels;
  const double* weights;
  constexpr double operator()(std::ptrdiff_t row) const {
    double sum = -labels[static_cast<std::size_t>(row)];
    for (std::size_t k = 0; k < points.columns; ++k) sum += points.row(row)[k] * weights[k];
    return sum;
  }
};

struct Descend {
  ooc::DeviceRows<const float> points;
  const double* residuals;
  double* weights;
  constexpr void operator()(std::ptrdiff_t column) const {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(column); i < points.size; i += points.columns)
      sum += residuals[i / points.columns] * points[i];
    weights[column] -= 0.02 * sum / static_cast<double>(points.rows());
  }
};

int main() {
  const ooc::Source points = ooc::open("points.npy"), labels = ooc::open("labels.f32");
  const std::size_t columns = *points.columns(), rows = 256;
  ooc::Coordinator coordinator(ooc::best_device());
  ooc::Device& device = coordinator.device();
  device.bind_to_thread();
  const auto stream = device.make_stream();
  const ooc::Buffer numbers(device.working_memory(), (columns + rows) * sizeof(double));
  stream->fill_zero(numbers.data(), numbers.size());
  double *const weights = numbers.as<double>(), *const errors = weights + columns;
  const thrust::counting_iterator<std::ptrdiff_t> first(0);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    ooc::Chunks batches(coordinator, ooc::zip(points, labels),
                        {.rows = rows, .shuffle_seed = epoch});
    while (const auto batch = batches.next(*stream)) {
      const auto x = batch->rows<float>(0), y = batch->rows<float>(1);
      ooc::execute(*stream, [&](auto policy) {
        thrust::transform(policy, first, first + x.rows(), errors, Residual{x, y, weights});
        thrust::for_each_n(policy, first, columns, Descend{x, errors, weights});
      });
    }
  }
  std::vector<double> found(columns);
  stream->copy(found.data(), weights, columns * sizeof(double));
  stream->synchronize();
  for (const double weight : found) std::cout << weight << '\n';
}
