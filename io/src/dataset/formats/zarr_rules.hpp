#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/formats/json_text.hpp"
#include "dataset/formats/zarr_header.hpp"

namespace ooc::detail {

/// The rules that headers of both versions of Zarr have in common. A header that breaks a rule of
/// its format is an Error(bad_input); one of an array that cannot be read has `why_not`.
class ZarrRules : protected JsonRules {
 protected:
  explicit ZarrRules(const std::filesystem::path& file) : JsonRules(file, "Zarr header") {}

  /// Says why the array cannot be read. The first reason counts.
  void refuse(std::string why_not);

  /// Returns the shape of a chunk, which has as many lengths as that of the array. `name`: its own.
  Lengths chunk_lengths(const Json& list, const std::string& name) const;

  struct CodecName {
    std::string_view name;
    ZarrCodec::Kind kind;
  };

  /// Adds a codec by its name, which must be one of `known`, with its options.
  void add_codec(const std::string& name, const Json& options, std::span<const CodecName> known);

  /// Checks the sizes of all that is kept in memory.
  void require_sizes();

  ZarrArray array_{};
};

}  // namespace ooc::detail
