#include <ooc/execute.hpp>
#include <ooc/filter.hpp>
#include <ooc/records.hpp>

#include <iostream>

struct Particle {  // the fields of particles.npy that the program needs
  double mass;
  float x, y;

  static constexpr auto fields =
      ooc::fields(ooc::field("mass", &Particle::mass), ooc::field("x", &Particle::x),
                  ooc::field("y", &Particle::y));
};

struct IsHeavy {
  constexpr bool operator()(const Particle& particle) const { return particle.mass > 500; }
};

struct Heavy {
  using Input = Particle;
  using Output = Particle;

  void select(ooc::Stream& stream, ooc::DeviceChunk<const Particle> in,
              ooc::DeviceSpan<Particle> out, std::uint64_t* kept) const {
    ooc::keep_if(stream, in, out, kept, IsHeavy{});
  }
};

int main() {
  ooc::Coordinator coordinator(ooc::best_device());
  const auto [found, stats] = ooc::filter(coordinator, Heavy{}, ooc::open("particles.npy"),
                                          {.path = "heavy.npy", .replace = true});
  std::cout << found.kept << " of " << found.seen << '\n';
}
