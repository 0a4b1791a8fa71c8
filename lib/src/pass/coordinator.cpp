#include <ooc/coordinator.hpp>

#include <ooc/error.hpp>

#include <string>
#include <utility>

#include "pass/coordinator_state.hpp"
#include "sizing/dry_run_pass.hpp"

namespace ooc {

namespace {

std::string name_of(Version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

}  // namespace

void detail::require_version(Version headers) {
  const Version library = version();
  if (headers.major == library.major && headers.minor == library.minor) return;
  throw Error(ErrorKind::usage,
              "this program was compiled with the headers of libooc " + name_of(headers) +
                  ", and runs with libooc " + name_of(library),
              {.why = "before 1.0, each minor version may change the types of the headers",
               .hint = "compile it with the headers of the library that it finds; ldd PROGRAM "
                       "shows the path of a shared one"});
}

Version version() noexcept {
  return {OOC_VERSION_MAJOR, OOC_VERSION_MINOR, OOC_VERSION_PATCH};
}

detail::CoordinatorState& detail::state_of(const Coordinator& coordinator) noexcept {
  return *coordinator.state_;
}

std::vector<std::unique_ptr<Device>> Coordinator::only(std::unique_ptr<Device> device) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(device));
  return devices;
}

Coordinator::Coordinator(std::vector<std::unique_ptr<Device>> devices, Options options,
                         Version headers)
    : state_(std::make_unique<detail::CoordinatorState>()) {
  detail::require_version(headers);
  if (devices.empty()) throw Error(ErrorKind::usage, "a coordinator has at least one device");
  state_->options = detail::bounded(std::move(options));
  std::size_t lanes = 0;
  for (std::unique_ptr<Device>& device : devices) {
    state_->stations.push_back(
        std::make_unique<detail::Station>(std::move(device), state_->options, lanes));
    lanes += state_->stations.back()->most_lanes();
  }
}

Coordinator::~Coordinator() = default;

Device& Coordinator::device() noexcept {
  return state_->first().device();
}
std::vector<Device*> Coordinator::devices() const {
  std::vector<Device*> devices;
  for (const auto& station : state_->stations) devices.push_back(&station->device());
  return devices;
}
Ranks* Coordinator::ranks() const noexcept {
  return state_->options.ranks;
}
const Options& Coordinator::options() const noexcept {
  return state_->options;
}
std::size_t Coordinator::streams() const noexcept {
  return state_->first().workers().reading_lanes;
}

}  // namespace ooc
