// A program whose types and exceptions go through libooc, and those of libooc through it.
// linking_test.py links it in all ways, and hides its symbols where that is possible.

#include <ooc/ooc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>

/// An exception of the program: not of libooc, not exported.
struct Refusal final : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Ones final : public ooc::Producer {
 public:
  std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), left_));
    std::memset(room.data(), 1, bytes);
    left_ -= bytes;
    return bytes;
  }

 private:
  std::uint64_t left_ = 1'000'000;
};

struct Sum {
  using Input = std::uint8_t;
  using Partial = std::uint64_t;
  bool refuses = false;
  bool fails = false;

  void consume(ooc::Stream&, ooc::DeviceSpan<const std::uint8_t> in, Partial& sum) const {
    if (refuses) throw Refusal("refused");
    if (fails) throw ooc::Error(ooc::ErrorKind::device, "failed", {.hint = "none"});
    for (const std::uint8_t value : in) sum += value;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

ooc::Source ones() {
  return ooc::produced(std::make_unique<Ones>(), {ooc::ElementType::u1});
}

int expect(bool fine, const char* what) {
  if (!fine) std::cerr << "not so: " << what << '\n';
  return fine ? 0 : 1;
}

int run() {
  ooc::Coordinator coordinator(ooc::make_device(ooc::DeviceKind::cpu));
  int failures = expect(ooc::fold(coordinator, Sum{}, ones()).value == 1'000'000, "the sum");
  failures += expect(ooc::reduce(coordinator, ones()).value.mean == 1.0, "the mean");
  try {
    ooc::fold(coordinator, Sum{.refuses = true}, ones());
    failures += expect(false, "an exception of the program ends the pass");
  } catch (const Refusal& refusal) {
    failures += expect(refusal.what() == std::string("refused"), "it is the same exception");
  }
  try {
    ooc::fold(coordinator, Sum{.fails = true}, ones());
    failures += expect(false, "an Error of the program ends the pass");
  } catch (const ooc::Error& error) {
    failures += expect(error.details().hint == "none", "it is the same Error");
  }
  try {
    ooc::open("absent.f32");
    failures += expect(false, "a file that is not there cannot be opened");
  } catch (const std::exception& exception) {
    const auto* const error = dynamic_cast<const ooc::Error*>(&exception);
    failures += expect(error != nullptr && error->kind() == ooc::ErrorKind::input,
                       "an Error of the library is one of the program");
  }
  ooc::MemoryResource& memory = coordinator.device().host_memory();
  failures += expect(dynamic_cast<ooc::MeteredMemory*>(&memory) != nullptr, "casts to its types");
  const ooc::Version version = ooc::version();
  std::cout << version.major << '.' << version.minor << '.' << version.patch << '\n';
  return failures;
}

int main() {
  try {
    return run();
  } catch (const ooc::Error& error) {
    std::cerr << "error: " << error.what() << "\nhint: " << ooc::advice(error.details()) << '\n';
    return 100 + static_cast<int>(error.kind());
  }
}
