#include "request/output_file.hpp"

#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <ooc/detail/base/letters.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/http/address.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "cli/type_words.hpp"

namespace ooc_run {
namespace {

/// True if a path leads to an open descriptor in /proc/self/fd or a directory like it; /dev/stdout
/// and /dev/fd are links to there. Such an entry is a link to the open file, which must not be
/// replaced.
bool is_own_descriptor(std::filesystem::path path) {
  constexpr int most_links = 40;  // the kernel's limit
  for (int i = 0; i < most_links; ++i) {
    struct statfs status {};
    const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
    const bool is_proc =
        statfs(directory.c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
    std::error_code failed, not_a_link;
    if (is_proc && std::filesystem::canonical(directory, failed).filename() == "fd") return true;
    const std::filesystem::path next = std::filesystem::read_symlink(path, not_a_link);
    if (not_a_link) return false;
    path = directory / next;
  }
  return false;
}

/// Returns the name of the standard stream that is redirected to this file. Empty if none is.
std::string_view stream_into(const std::filesystem::path& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return {};
  for (const auto& [descriptor, name] :
       {std::pair{STDOUT_FILENO, "standard output"}, std::pair{STDERR_FILENO, "standard error"}}) {
    struct stat stream {};
    if (fstat(descriptor, &stream) != 0) continue;
    if (stream.st_dev == file.st_dev && stream.st_ino == file.st_ino) return name;
  }
  return {};
}

std::string untyped_hint(const std::filesystem::path& path) {
  return fmt::format("{} names no type",
                     ooc::shell_word(std::filesystem::path(path).replace_extension(".bin")));
}

/// True for endings such as ".f80" or ".i7".
bool looks_like_a_type(std::string_view ending) {
  return ending.size() > 2 && std::string_view("fiu").find(ending[1]) != std::string_view::npos &&
         std::ranges::all_of(ending.substr(2), ooc::detail::is_digit);
}

}  // namespace

std::filesystem::path parse_output(const std::string& text) {
  constexpr const char* why = "a file appears whole or not at all, which a stream cannot";
  if (text.empty()) throw ooc::Error(ooc::ErrorKind::usage, "is not the name of a file");
  if (text == "-") {
    throw ooc::Error(ooc::ErrorKind::usage, "standard output is not supported",
                     {.why = why, .hint = "name a file; one named '-' is './-'"});
  }
  if (!ooc::detail::scheme_of(text).empty()) {
    throw ooc::Error(ooc::ErrorKind::usage, "files are written to this machine only",
                     {.hint = "name a local file, and copy it to the server then"});
  }
  if (is_own_descriptor(text)) {
    throw ooc::Error(ooc::ErrorKind::usage, "is an open descriptor, and not a file",
                     {.why = why, .hint = "name a file"});
  }
  if (const std::string_view stream = stream_into(text); !stream.empty()) {
    throw ooc::Error(ooc::ErrorKind::usage, fmt::format("is the file that {} goes to", stream),
                     {.why = "the output would replace it, and what is printed would be lost",
                      .hint = "name another file"});
  }
  return text;
}

std::filesystem::path read_output_path(const Arguments& arguments, const std::string& example,
                                       std::size_t inputs) {
  if (const auto path = arguments.get("output", parse_output)) {
    ooc::detail::require_written_format(*path);
    return *path;
  }
  const std::span<const std::string> files = arguments.files();
  const std::string hint = files.size() > inputs ? fmt::format("-o {}, if that is the output",
                                                               ooc::shell_word(files.back()))
                                                 : example;
  throw ooc::Error(ooc::ErrorKind::usage, "no output file given", {.hint = hint});
}

std::optional<ooc::DType> read_output_type(const Arguments& arguments, std::string_view option,
                                           const std::filesystem::path& path) {
  if (const auto asked = arguments.get(option, ooc::parse_dtype)) {
    if (asked->is_struct()) {
      throw ooc::Error(ooc::ErrorKind::usage,
                       fmt::format("--{} says a struct; elements of one type are written", option),
                       {.hint = fmt::format("--{} f4", option)});
    }
    require_ending(path, asked->element, fmt::format("--{} says", option));
    return asked;
  }
  const std::string ending = ooc::ending_of(path);
  if (const auto named = ooc::type_of_ending(ending)) return ooc::DType{*named};
  if (const auto meant = type_meant_by_ending(path)) {
    throw ooc::Error(ooc::ErrorKind::usage,
                     fmt::format("{}: {} is no ending that names a type", path.string(), ending),
                     {.path = path,
                      .hint = fmt::format("--{} {} writes {}", option, dtype_word(*meant),
                                          describe_type(*meant))});
  }
  if (looks_like_a_type(ending)) {
    throw ooc::Error(ooc::ErrorKind::usage,
                     fmt::format("{}: there is no type {}", path.string(), ending.substr(1)),
                     {.path = path, .hint = untyped_hint(path)});
  }
  return {};
}

void require_ending(const std::filesystem::path& path, ooc::ElementType element,
                    std::string_view says) {
  const auto named = ooc::type_of_ending(ooc::ending_of(path));
  if (!named || *named == element) return;
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("{}: the ending names {}, {} {}", path.string(),
                               ooc::name_of(*named), says, ooc::name_of(element)),
                   {.path = path, .hint = untyped_hint(path)});
}

std::filesystem::path parse_picture(const std::string& text) {
  const std::filesystem::path path = parse_output(text);
  if (std::ranges::find(picture_endings, ooc::ending_of(path)) != picture_endings.end()) {
    return path;
  }
  const std::string other = std::filesystem::path(path).replace_extension(".svg").string();
  throw ooc::Error(ooc::ErrorKind::usage, "only SVG and PNG can be drawn",
                   {.hint = "--plot " + ooc::shell_word(other) + ", which every browser shows"});
}

std::filesystem::path parse_timeline(const std::string& text) {
  const std::filesystem::path path = parse_output(text);
  if (ooc::ending_of(path) != ".json") return path;
  const std::string other = std::filesystem::path(path).replace_extension(".pftrace").string();
  throw ooc::Error(ooc::ErrorKind::usage, "a timeline is protobuf, not JSON",
                   {.hint = "--trace " + ooc::shell_word(other) + ", which ui.perfetto.dev shows"});
}

std::filesystem::path parse_page(const std::string& text) {
  const std::filesystem::path path = parse_output(text);
  const std::string ending = ooc::ending_of(path);
  if (ending == ".html" || ending == ".htm") return path;
  const std::string other = std::filesystem::path(path).replace_extension(".html").string();
  throw ooc::Error(ooc::ErrorKind::usage, "a report is an HTML file",
                   {.hint = "--report " + ooc::shell_word(other) + ", which every browser shows"});
}

}  // namespace ooc_run
