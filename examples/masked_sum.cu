#include <ooc/execute.hpp>
#include <ooc/fold.hpp>

#include <thrust/functional.h>
#include <thrust/inner_product.h>

#include <cstdint>
#include <iostream>
#include <tuple>

struct ValueIfGood {
  constexpr double operator()(float value, std::uint8_t good) const {
    return good != 0 ? value : 0;
  }
};

struct MaskedSum {
  using Input = std::tuple<float, std::uint8_t>;  // the element types of two files
  using Partial = double;

  void consume(ooc::Stream& stream, ooc::DeviceSpan<const float> values,
               ooc::DeviceSpan<const std::uint8_t> good, Partial& sum) const {
    ooc::execute(stream, [&](auto policy) {
      sum += thrust::inner_product(policy, values.begin(), values.end(), good.begin(), 0.0,
                                   thrust::plus<double>{}, ValueIfGood{});
    });
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const ooc::Source prices = ooc::open("prices.f32");
  const ooc::Source good = ooc::open("good.u8");
  std::cout.precision(17);
  std::cout << ooc::fold(coordinator, MaskedSum{}, ooc::zip(prices, good)).value << '\n';
}
