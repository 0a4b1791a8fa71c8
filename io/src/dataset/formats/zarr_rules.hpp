#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/formats/zarr_header.hpp"

namespace ooc::detail {

/// The rules that headers of both versions of Zarr have in common. A header that breaks a rule of
/// its format is an Error(bad_input); one of an array that cannot be read has `why_not`.
class ZarrRules {
 protected:
  using Json = nlohmann::json;
  using Lengths = std::vector<std::uint64_t>;

  explicit ZarrRules(const std::filesystem::path& file) : file_(file) {}

  /// Throws Error(bad_input).
  [[noreturn]] void fail(const std::string& expected) const;

  /// Says why the array cannot be read. The first reason counts.
  void refuse(std::string why_not);

  /// Returns a member of an object, which must be there, and not null.
  const Json& member(const Json& object, const std::string& key) const;

  /// Returns a member of an object; null if there is none, or if it is no object.
  const Json& optional_member(const Json& object, const std::string& key) const;

  /// Returns the lengths of a shape.
  Lengths lengths(const Json& list) const;

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

  const std::filesystem::path& file_;
  ZarrArray array_{};

 private:
  std::uint64_t band_bytes(const Lengths& counts) const;

  const Json none_{};
};

}  // namespace ooc::detail
