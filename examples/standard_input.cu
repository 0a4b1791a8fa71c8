#include <ooc/error.hpp>
#include <ooc/execute.hpp>
#include <ooc/fold.hpp>

#include <thrust/functional.h>
#include <thrust/reduce.h>

#include <unistd.h>

#include <iostream>

struct Sum {
  using Input = float;
  using Partial = double;

  void consume(ooc::Stream& stream, ooc::DeviceSpan<const float> in, Partial& sum) const {
    ooc::execute(stream, [&](auto policy) {
      sum += thrust::reduce(policy, in.begin(), in.end(), 0.0, thrust::plus<double>());
    });
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

int main() {
  try {
    ooc::Coordinator coordinator(ooc::best_device());
    const ooc::Source input = ooc::from_descriptor(STDIN_FILENO, {ooc::ElementType::f4});
    const auto [sum, stats] = ooc::fold(coordinator, Sum{}, input);
    std::cout.precision(17);
    std::cout << sum << " is the sum of " << stats.outcome.bytes / sizeof(float) << " values\n";
  } catch (const ooc::Error& error) {
    std::cerr << error.what() << '\n' << ooc::advice(error.details()) << '\n';
    return 1;
  }
}
