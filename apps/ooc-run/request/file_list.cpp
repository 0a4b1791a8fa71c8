#include "request/file_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <ooc/error.hpp>
#include <string_view>

#include "cli/failure.hpp"

namespace ooc_run {
namespace {

constexpr const char* standard_input = "-";

/// Returns the contents of a list.
std::string read_list(const std::string& name) {
  const bool is_piped = name == standard_input;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
      is_piped ? nullptr : std::fopen(name.c_str(), "re"), std::fclose);
  std::FILE* list = is_piped ? stdin : opened.get();
  if (list == nullptr) throw ooc::Error::from_errno(ooc::ErrorKind::input, "open", errno, name);
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), list)) {
    text.append(buffer.data(), bytes);
  }
  if (std::ferror(list) == 0) return text;
  throw ooc::Error::from_errno(ooc::ErrorKind::input, "read", errno,
                               is_piped ? "standard input" : name);
}

/// Returns the non-empty names that end with `end`, and the text after the last `end` if any.
std::vector<std::string> split(std::string_view text, char end) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(end));
    text.remove_prefix(std::min(name.size() + 1, text.size()));
    // In a list, "-" means a file with that name.
    if (!name.empty()) names.emplace_back(name == standard_input ? "./-" : name);
  }
  return names;
}

}  // namespace

std::vector<std::string> read_files(const Arguments& arguments) {
  std::vector<std::string> files(arguments.files().begin(), arguments.files().end());
  const auto list = arguments.get("files-from", [](const std::string& name) { return name; });
  if (!list || (!files.empty() && !arguments.has_word("files-from"))) return files;
  if (!files.empty()) {
    refuse_usage(fmt::format("'{}' and --files-from {}", files.front(), *list),
                 "name all files in the list, or all on the command line");
  }
  const std::string text = read_list(*list);
  const bool ends_with_null = arguments.has("null");
  const bool has_nulls = text.find('\0') != std::string::npos;
  if (!ends_with_null && has_nulls) {
    refuse_usage(fmt::format("--files-from {}: has null characters", *list),
                 "-0 (--null) reads a list whose names end with them");
  }
  if (ends_with_null && !has_nulls && text.find('\n') != std::string::npos) {
    refuse_usage(fmt::format("--files-from {}: has lines, but no null characters", *list),
                 "without -0 (--null), each line is a name");
  }
  files = split(text, ends_with_null ? '\0' : '\n');
  if (files.empty()) {
    refuse_usage(
        fmt::format("--files-from {}: names no file", *list),
        *list == standard_input ? "of several ranks, only the first has standard input" : "");
  }
  return files;
}

}  // namespace ooc_run
