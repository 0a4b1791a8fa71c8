#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ooc::detail {

/// The format of a file that is compressed as a whole.
enum class Compression { zstd, gzip, lz4 };

/// Returns the format that an ending in lower case names; nothing for other endings.
inline std::optional<Compression> compression_of_ending(std::string_view ending) {
  struct Ending {
    std::string_view ending;
    Compression compression;
  };
  constexpr std::array endings{Ending{".zst", Compression::zstd}, Ending{".gz", Compression::gzip},
                               Ending{".bgz", Compression::gzip}, Ending{".lz4", Compression::lz4}};
  const auto found = std::ranges::find(endings, ending, &Ending::ending);
  return found == endings.end() ? std::nullopt : std::optional(found->compression);
}

}  // namespace ooc::detail
