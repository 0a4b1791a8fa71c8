#include <ooc/detail/dataset/judgement.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

namespace ooc::detail {
namespace {

using namespace std::string_view_literals;

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

constexpr std::array endings{".safetensors"sv, ".npz"sv, ".fits"sv};  // of files of several arrays

/// Returns the position behind the first `.ENDING` before a `::`; npos if there is none.
std::size_t end_of_file(std::string_view path) {
  std::size_t found = std::string_view::npos;
  for (const std::string_view ending : endings) {
    for (const std::string_view compressed : {"", ".zst", ".gz", ".bgz", ".lz4"}) {
      const std::string file = std::string(ending) + std::string(compressed);
      const std::size_t at = path.find(file + "::");
      if (at != std::string_view::npos) found = std::min(found, at + file.size());
    }
  }
  return found;
}

/// Cuts an address behind the name of a file of several arrays or, if it has a query, behind that.
Selector selector_of_address(const std::string& text) {
  constexpr std::string_view between = "::";
  const std::size_t query = std::min(text.find('?'), text.size());
  const std::string path = text.substr(0, query);
  const std::size_t file_end = end_of_file(path);
  const std::size_t at = file_end == std::string::npos ? text.rfind(between) : file_end;
  const bool has_ending =
      std::ranges::any_of(endings, [&](std::string_view each) { return path.ends_with(each); });
  const bool is_behind_query = at != std::string::npos && at > query && has_ending;
  if (is_behind_query) return {text.substr(0, at), text.substr(at + between.size())};
  if (file_end == std::string::npos || at + between.size() == query) return {text, {}};
  const std::size_t name = at + between.size();
  return {text.substr(0, at) + text.substr(query), text.substr(name, query - name)};
}

}  // namespace

Selector selector_of(const std::filesystem::path& whole) {
  const std::string text = whole.string();
  if (const std::size_t scheme = text.find("://"); scheme != std::string::npos) {
    Selector found = selector_of_address(text);
    const std::string path = found.path.string();
    const std::size_t at = path.rfind('[');  // a host may be in brackets, too
    const bool has_slice = found.name.empty() && path.ends_with(']') && at != std::string::npos &&
                           path.find('/', scheme + 3) < at;
    return has_slice ? Selector{path.substr(0, at), path.substr(at)} : found;
  }
  if (is_there(whole)) return {whole, {}};
  for (std::size_t at = text.rfind("::"); at != std::string::npos && at != 0;
       at = text.rfind("::", at - 1)) {
    const std::filesystem::path path = text.substr(0, at);
    if (at + 2 != text.size() && is_there(path)) return {path, text.substr(at + 2)};
  }
  if (const std::size_t at = text.rfind('['); at != std::string::npos && text.ends_with(']')) {
    if (is_there(text.substr(0, at))) return {text.substr(0, at), text.substr(at)};
  }
  return {whole, {}};
}

}  // namespace ooc::detail
