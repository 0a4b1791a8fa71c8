#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace ooc::detail {

namespace {

/// Returns the sizes that the codecs of a chain decode to. Throws Error(internal) if one of them
/// but the last is not known.
std::vector<std::uint64_t> sizes_of(const CodecChain& chain, std::uint64_t decoded) {
  std::vector<std::uint64_t> sizes(chain.size(), decoded);
  for (std::size_t i = chain.size(); i-- > 1;) {
    const auto encoded = chain[i]->encoded_bytes(sizes[i]);
    if (!encoded) {
      throw Error(ErrorKind::internal,
                  std::string(chain[i]->name()) + " is not first in its chain");
    }
    sizes[i - 1] = *encoded;
  }
  return sizes;
}

}  // namespace

void decode(const CodecChain& chain, std::span<const std::byte> encoded,
            std::span<std::byte> decoded) {
  if (chain.empty()) {
    if (encoded.size() != decoded.size()) {
      throw Error(ErrorKind::bad_input, std::to_string(encoded.size()) + " bytes are stored for " +
                                            std::to_string(decoded.size()));
    }
    if (!decoded.empty()) std::memcpy(decoded.data(), encoded.data(), decoded.size());
    return;
  }
  const std::vector<std::uint64_t> sizes = sizes_of(chain, decoded.size());
  std::vector<std::byte> before, after;  // of the codec that is next, if it is not the last
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    after.resize(sizes[i]);
    chain[i]->decode(i == 0 ? encoded : std::span<const std::byte>(before), after);
    std::swap(before, after);
  }
  chain.back()->decode(chain.size() == 1 ? encoded : std::span<const std::byte>(before), decoded);
}

}  // namespace ooc::detail
