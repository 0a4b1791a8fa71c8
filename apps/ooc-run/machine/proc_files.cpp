#include "machine/proc_files.hpp"

#include <charconv>
#include <ooc/detail/base/text_file.hpp>
#include <sstream>
#include <string_view>

namespace ooc_run {
namespace {

std::string trimmed(std::string_view text, std::string_view unwanted) {
  const std::size_t begin = text.find_first_not_of(unwanted);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(unwanted) - begin + 1));
}

}  // namespace

std::string first_line(const std::filesystem::path& path) {
  const std::string text = ooc::detail::read_text(path);
  return trimmed(std::string_view(text).substr(0, text.find('\n')), " \t\r");
}

std::optional<std::int64_t> number_in(const std::filesystem::path& path) {
  const std::string line = first_line(path);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{} || end != line.data() + line.size() || line.empty()) return {};
  return number;
}

std::string value_of(const std::filesystem::path& path, const std::string& key) {
  std::istringstream file(ooc::detail::read_text(path));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::string_view rest = std::string_view(line).substr(key.size());
    if (!rest.empty() && std::string_view(": \t").find(rest.front()) == std::string_view::npos) {
      continue;
    }
    return trimmed(rest, ": \t\r");
  }
  return {};
}

}  // namespace ooc_run
