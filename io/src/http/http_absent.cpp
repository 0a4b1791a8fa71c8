#include "engine/engines.hpp"

#include <ooc/detail/http/remote_object.hpp>
#include <ooc/error.hpp>

#include <utility>

namespace ooc::detail {
namespace {

Error no_http(const std::string& what) {
  return {
      ErrorKind::usage,
      what + ": this libooc was built without HTTP",
      {.why = "the headers of libcurl were not there",
       .hint = "apt-get install libcurl4-openssl-dev, and build again, or copy the data first"}};
}

}  // namespace

RemoteObject::RemoteObject(Address address) : address_(std::move(address)) {
  throw no_http(address_.name);
}

std::string RemoteObject::fingerprint() const {
  return {};
}

void RemoteObject::read(std::uint64_t /*offset*/, std::span<std::byte> /*memory*/) const {
  throw no_http(address_.name);
}

std::unique_ptr<Engine> make_http_engine(const EngineOptions& /*options*/) {
  throw no_http("engine http");
}

}  // namespace ooc::detail
