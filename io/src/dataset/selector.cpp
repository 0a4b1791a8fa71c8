#include <ooc/detail/dataset/judgement.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>

namespace ooc::detail {
namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Cuts an address behind the name of a safetensors file or, if it has a query, behind that.
Selector selector_of_address(const std::string& text) {
  constexpr std::string_view ending = ".safetensors", between = "::";
  const std::size_t query = std::min(text.find('?'), text.size());
  const std::string path = text.substr(0, query);
  const std::size_t file_end = path.find(std::string(ending) + std::string(between));
  const std::size_t at =
      file_end == std::string::npos ? text.rfind(between) : file_end + ending.size();
  const bool is_behind_query = at != std::string::npos && at > query && path.ends_with(ending);
  if (is_behind_query) return {text.substr(0, at), text.substr(at + between.size())};
  if (file_end == std::string::npos || at + between.size() == query) return {text, {}};
  const std::size_t name = at + between.size();
  return {text.substr(0, at) + text.substr(query), text.substr(name, query - name)};
}

}  // namespace

Selector selector_of(const std::filesystem::path& whole) {
  const std::string text = whole.string();
  if (text.find("://") != std::string::npos) return selector_of_address(text);
  if (is_there(whole)) return {whole, {}};
  for (std::size_t at = text.rfind("::"); at != std::string::npos && at != 0;
       at = text.rfind("::", at - 1)) {
    const std::filesystem::path path = text.substr(0, at);
    if (at + 2 != text.size() && is_there(path)) return {path, text.substr(at + 2)};
  }
  return {whole, {}};
}

}  // namespace ooc::detail
