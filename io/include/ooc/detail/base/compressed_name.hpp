#pragma once

#include <ooc/detail/base/language.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
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

/// Returns the ending that tells what is in a file: that of its name or, if this says only how the
/// file is compressed, the one before: ".npy" for "x.npy.zst".
inline std::string ending_of_data(const std::filesystem::path& path) {
  std::string ending = ending_of(path);
  const bool is_behind = compression_of_ending(ending) && path.stem().has_extension();
  return is_behind ? ending_of(path.stem()) : ending;
}

}  // namespace ooc::detail
