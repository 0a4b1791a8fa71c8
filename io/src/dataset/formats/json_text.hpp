#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// Parses JSON whose values are at most 32 levels deep, and in which no object has a key twice.
/// Leaves out the values of `skipped` keys of the outermost object. Throws Error(bad_input), which
/// names the file.
nlohmann::json parse_json(std::string_view text, std::span<const std::string_view> skipped,
                          const std::filesystem::path& file);

/// The rules that values of a header in JSON have in common. What breaks one is an
/// Error(bad_input) that names the file.
class JsonRules {
 protected:
  using Json = nlohmann::json;
  using Lengths = std::vector<std::uint64_t>;

  /// `header`: its name in messages. The path must outlive this object.
  JsonRules(const std::filesystem::path& file, std::string_view header)
      : file_(file), header_(header) {}

  /// Throws Error(bad_input).
  [[noreturn]] void fail(const std::string& expected) const;

  /// Returns a member of an object, which must be there, and not null.
  const Json& member(const Json& object, const std::string& key) const;

  /// Returns a member of an object; null if there is none, or if it is no object.
  const Json& optional_member(const Json& object, const std::string& key) const;

  /// Returns the lengths of a shape.
  Lengths lengths(const Json& list) const;

  /// Returns the shape of a chunk, which has `dimensions` lengths. `name`: its own.
  Lengths chunk_lengths(const Json& list, const std::string& name, std::size_t dimensions) const;

  const std::filesystem::path& file_;

 private:
  const std::string_view header_;
  const Json none_{};
};

}  // namespace ooc::detail
