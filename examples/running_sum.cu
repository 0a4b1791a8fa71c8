#include <ooc/execute.hpp>
#include <ooc/scan.hpp>

#include <thrust/copy.h>
#include <thrust/functional.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

/// Adds the sum of all elements before the partition.
struct AddCarry {
  const double* before;

  constexpr double operator()(double sum) const { return sum + *before; }
};

/// A running sum. On a GPU its last bits may differ from run to run, since Thrust does not fix the
/// order of additions.
struct RunningSum {
  using Input = float;
  using Output = double;
  using Carry = double;  // the sum of all elements before a partition; it begins at 0

  void begin(ooc::Stream& stream, ooc::DeviceChunk<const float> in, ooc::DeviceSpan<double> out,
             double* own) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::inclusive_scan(policy, in.begin(), in.end(), out.begin(), 0.0,
                             thrust::plus<double>());
      thrust::copy_n(policy, out.end() - 1, 1, own);
    });
  }
  void join(ooc::Stream& stream, const double* before, const double* own, double* after) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, before, before + 1, own, after, thrust::plus<double>());
    });
  }
  void finish(ooc::Stream& stream, ooc::DeviceSpan<double> out, const double* before) const {
    ooc::execute(stream, [&](auto policy) {
      thrust::transform(policy, out.begin(), out.end(), out.begin(), AddCarry{before});
    });
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  ooc::scan(coordinator, RunningSum{}, ooc::open("prices.f32"),
            {.path = "totals.npy", .replace = true});
}
