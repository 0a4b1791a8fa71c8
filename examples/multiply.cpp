#include <ooc/ooc.hpp>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: multiply A.npy B.npy C.npy\n";
    return 2;
  }
  ooc::Coordinator coordinator(ooc::best_device());
  const ooc::Source a = ooc::open(argv[1]);  // a .npy file has a shape;
  const ooc::Source b = ooc::open(argv[2]);  // for a raw file, call set_shape({rows, columns})
  const auto [product, stats] = ooc::matmul(coordinator, a, b, {.path = argv[3], .replace = true});
  std::cout << product.plan.resident << " stayed on the device (" << stats.layout.device << "), "
            << stats.timing.seconds << " s\n";
} catch (const ooc::Error& error) {
  std::cerr << error.what() << '\n' << ooc::advice(error.details()) << '\n';
  return 1;
}
