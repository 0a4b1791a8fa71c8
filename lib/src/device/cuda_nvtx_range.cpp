#include <nvtx3/nvtx3.hpp>

#include "device/nvtx_range.hpp"

namespace ooc::detail {

namespace {

struct Domain {
  static constexpr const char* name{"ooc"};
};

nvtx3::event_attributes attributes(const char* name, std::size_t chunk) noexcept {
  return nvtx3::event_attributes{name, nvtx3::payload{static_cast<std::uint64_t>(chunk)}};
}

}  // namespace

NvtxRange::NvtxRange(const char* name, std::size_t chunk) noexcept {
  nvtxDomainRangePushEx(nvtx3::domain::get<Domain>(), attributes(name, chunk).get());
}

NvtxRange::~NvtxRange() {
  nvtxDomainRangePop(nvtx3::domain::get<Domain>());
}

std::uint64_t begin_nvtx_range(const char* name, std::size_t chunk) noexcept {
  return nvtx3::start_range_in<Domain>(attributes(name, chunk)).get_value();
}

void end_nvtx_range(std::uint64_t range) noexcept {
  nvtx3::end_range_in<Domain>(nvtx3::range_handle{range});
}

}  // namespace ooc::detail
