// Counts the values of prices.f32 above a half in four shards, as four machines would.

#include <thrust/count.h>
#include <ooc/execute.hpp>
#include <ooc/ooc.hpp>

#include <iostream>
#include <optional>
#include <string>

struct Above {
  float threshold;
  constexpr bool operator()(float value) const { return value > threshold; }
};

struct CountAbove {
  using Input = float;
  using Partial = std::uint64_t;
  static constexpr std::size_t partition_records = 1 << 18;  // the same on every device
  static constexpr std::string_view partial_name = "example.count_above/1";
  float threshold;

  std::string question() const { return "above " + std::to_string(threshold); }
  void consume(ooc::Stream& stream, ooc::DeviceSpan<const float> in, Partial& count) const {
    ooc::execute(stream, [&](auto policy) {
      count += thrust::count_if(policy, in.begin(), in.end(), Above{threshold});
    });
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

int main() {
  constexpr std::uint64_t shards = 4;
  const CountAbove above{0.5f};
  const auto path = [](std::uint64_t i) { return "above-" + std::to_string(i) + ".part"; };
  for (std::uint64_t i = 0; i < shards; ++i) {  // each could be a process of its own
    ooc::Coordinator coordinator(ooc::best_device());
    const ooc::Source prices = ooc::open("prices.f32");
    const ooc::Source mine = ooc::shard(prices, i, shards, CountAbove::partition_records);
    ooc::PartFile file{.question = R"("above a half")", .input = ooc::identity_of(prices)};
    file.add(ooc::collect(coordinator, above, mine).value);
    ooc::write_part_file(path(i), file, true);
  }
  const ooc::PartFile first = ooc::read_part_file(path(0));
  auto total = ooc::load_part(above, first.parts.front());
  for (std::uint64_t i = 1; i < shards; ++i) {
    const ooc::PartFile file = ooc::read_part_file(path(i));
    ooc::require_same_data(first, path(0), file, path(i));
    total.merge(ooc::load_part(above, file.parts.front()));
  }
  std::cout << std::move(total).result() << '\n';
}
