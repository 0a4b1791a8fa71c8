#include <ooc/execute.hpp>
#include <ooc/map.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>

#include <cstddef>

struct SumOfSquares {
  ooc::DeviceRows<const float> rows;

  constexpr float operator()(std::ptrdiff_t row) const {
    float sum = 0;
    for (const float value : rows.row(row)) sum += value * value;
    return sum;
  }
};

struct SquaredNorms {
  using Input = ooc::Row<float>;  // its length follows from the shape of the file
  using Output = float;           // one for each row

  void transform(ooc::Stream& stream, ooc::DeviceRows<const float> in,
                 ooc::DeviceSpan<float> out) const {
    const thrust::counting_iterator<std::ptrdiff_t> first(0);
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, first, first + static_cast<std::ptrdiff_t>(in.rows()), out.begin(),
                        SumOfSquares{in});
    });
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  ooc::map(coordinator, SquaredNorms{}, ooc::open("points.npy"),
           {.path = "squared_norms.npy", .replace = true});
}
