#include <ooc/ooc.hpp>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: multiply A.npy B.npy C.npy\n";
    return 2;
  }
  ooc::Coordinator coordinator(ooc::best_device());
  const ooc::Source a = ooc::open(argv[1]);  // of a raw file, set_shape({rows, columns}) says
  const ooc::Source b = ooc::open(argv[2]);  // what a .npy file says of itself
  const auto [product, stats] = ooc::matmul(coordinator, a, b, {.path = argv[3], .replace = true});
  std::cout << product.plan.resident << " stayed on the device (" << stats.device << "), "
            << stats.seconds << " s\n";
} catch (const ooc::Error& error) {
  std::cerr << error.what() << '\n' << error.details().hint << '\n';
  return 1;
}
