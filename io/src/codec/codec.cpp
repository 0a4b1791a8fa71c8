#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace ooc::detail {

namespace {

/// Returns the sizes that the codecs of a chain decode to. Throws Error(internal) if one of them
/// is not known.
std::vector<std::uint64_t> sizes_of(const CodecChain& chain, std::uint64_t encoded,
                                    std::uint64_t decoded) {
  std::vector<std::uint64_t> sizes(chain.size(), decoded);
  std::size_t first_known = chain.size() - 1;
  for (; first_known != 0; --first_known) {
    const auto before = chain[first_known]->encoded_bytes(sizes[first_known]);
    if (!before) break;
    sizes[first_known - 1] = *before;
  }
  for (std::size_t i = 0; i < first_known; ++i) {
    const auto after = chain[i]->decoded_bytes(i == 0 ? encoded : sizes[i - 1]);
    if (!after) {
      throw Error(ErrorKind::internal, std::string(chain[first_known]->name()) +
                                           " and another codec of its chain have any size");
    }
    sizes[i] = *after;
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
  const std::vector<std::uint64_t> sizes = sizes_of(chain, encoded.size(), decoded.size());
  std::vector<std::byte> before, after;  // of the codec that is next, if it is not the last
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    after.resize(sizes[i]);
    chain[i]->decode(i == 0 ? encoded : std::span<const std::byte>(before), after);
    std::swap(before, after);
  }
  chain.back()->decode(chain.size() == 1 ? encoded : std::span<const std::byte>(before), decoded);
}

}  // namespace ooc::detail
