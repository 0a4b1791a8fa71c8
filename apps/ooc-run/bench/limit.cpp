#include "bench/limit.hpp"

#include <algorithm>
#include <vector>

namespace ooc_run {

RateLimit limit_of(const StageRates& rates, double bytes, double chunk_bytes) {
  struct RatedStage {
    std::string_view name;
    double rate;
  };
  std::vector<RatedStage> stages{{"source", rates.source}};
  if (rates.link) stages.push_back({"link", *rates.link});
  stages.push_back({"kernel", rates.kernel});
  const auto slowest = std::ranges::min_element(stages, {}, &RatedStage::rate);
  double seconds = bytes / slowest->rate;
  for (auto behind = slowest + 1; behind != stages.end(); ++behind) {
    seconds += std::min(chunk_bytes, bytes) / behind->rate;
  }
  return {bytes / seconds, slowest->name};
}

}  // namespace ooc_run
