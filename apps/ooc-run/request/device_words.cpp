#include "request/device_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/error.hpp>
#include <system_error>

#include "cli/arguments.hpp"
#include "cli/options.hpp"

namespace ooc_run {
namespace {

DeviceName gpu(int ordinal) {
  return {ooc::DeviceKind::cuda, ordinal};
}

/// Returns all GPUs. If there are none, returns the first one, so that an error tells the reason.
std::vector<DeviceName> all_gpus() {
  std::vector<DeviceName> gpus;
  for (int i = 0; i < std::max(ooc::detail::visible_gpus(), 1); ++i) gpus.push_back(gpu(i));
  return gpus;
}

DeviceName parse_ordinal(std::string_view digits) {
  int ordinal = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error == std::errc{} && end == digits.data() + digits.size() && ordinal >= 0) {
    return gpu(ordinal);
  }
  throw ooc::Error(ooc::ErrorKind::usage, "is not the number of a GPU",
                   {.hint = "cuda:0 is the first, cuda:0,1 are two, cuda:all are all"});
}

}  // namespace

std::vector<DeviceName> parse_devices(std::string_view text) {
  constexpr std::string_view numbered = "cuda:", every = "cuda:all";
  if (text == every) return all_gpus();
  if (text.starts_with(numbered)) {
    std::vector<DeviceName> gpus;
    for (std::string_view rest = text.substr(numbered.size());;) {
      const std::size_t comma = rest.find(',');
      const DeviceName next = parse_ordinal(rest.substr(0, comma));
      if (std::ranges::find(gpus, next) != gpus.end()) {
        throw ooc::Error(ooc::ErrorKind::usage, "names a GPU twice");
      }
      gpus.push_back(next);
      if (comma == std::string_view::npos) return gpus;
      rest.remove_prefix(comma + 1);
    }
  }
  if (text == "gpu") {
    throw ooc::Error(ooc::ErrorKind::usage, "is not known", {.hint = "did you mean cuda?"});
  }
  const DeviceName cpu{ooc::DeviceKind::cpu};
  std::vector<DeviceName> all = all_gpus();
  all.push_back(cpu);
  const std::array<std::vector<DeviceName>, 4> devices{{{}, {cpu}, {gpu(0)}, std::move(all)}};
  return choose(device_names, devices, text);
}

}  // namespace ooc_run
