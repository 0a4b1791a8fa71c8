#include "output_file_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ooc/io/error.hpp>

namespace ooc_run {
namespace {

/// The type that the ending of a raw file names, if it does.
std::optional<ooc::DType> type_of_ending(const std::filesystem::path& path) {
  struct Ending {
    std::string_view ending;
    ooc::ElementType element;
  };
  using enum ooc::ElementType;
  constexpr std::array endings{Ending{".u8", u1},  Ending{".u16", u2}, Ending{".u32", u4},
                               Ending{".u64", u8}, Ending{".i8", i1},  Ending{".i16", i2},
                               Ending{".i32", i4}, Ending{".i64", i8}, Ending{".f16", f2},
                               Ending{".f32", f4}, Ending{".f64", f8}, Ending{".bf16", bf16}};
  const auto found = std::ranges::find(endings, path.extension().string(), &Ending::ending);
  if (found == endings.end()) return {};
  return ooc::DType{found->element};
}

}  // namespace

std::filesystem::path read_output_path(const Arguments& arguments, const std::string& example) {
  const auto path = arguments.get("output", [](const std::string& text) { return text; });
  if (path && !path->empty()) return *path;
  throw ooc::Error(ooc::Cause::usage, "no output file given", {.hint = example});
}

std::optional<ooc::DType> read_output_type(const Arguments& arguments, std::string_view option,
                                           const std::filesystem::path& path) {
  const std::optional<ooc::DType> asked = arguments.get(option, ooc::parse_dtype);
  if (!asked) return type_of_ending(path);
  require_ending(path, asked->element, fmt::format("--{} says", option));
  return asked;
}

void require_ending(const std::filesystem::path& path, ooc::ElementType element,
                    std::string_view says) {
  const std::optional<ooc::DType> named = type_of_ending(path);
  if (!named || named->element == element) return;
  throw ooc::Error(
      ooc::Cause::usage,
      fmt::format("{}: the ending names {}, {} {}", path.string(), ooc::name_of(named->element),
                  says, ooc::name_of(element)),
      {.path = path, .hint = "who reads it would take it for the former; .bin names no type"});
}

}  // namespace ooc_run
