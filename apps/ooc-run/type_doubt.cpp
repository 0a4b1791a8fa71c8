#include "type_doubt.hpp"

#include <fmt/core.h>

#include <ooc/io/element_type.hpp>
#include <ooc/io/error.hpp>
#include <string_view>
#include <vector>

#include "file_facts.hpp"
#include "file_signature.hpp"
#include "report.hpp"
#include "type_guess.hpp"

namespace ooc_run {
namespace {

std::string doubt_about_ending(const std::filesystem::path& path) {
  const auto meant = type_meant_by_ending(path);
  if (!meant || *meant == ooc::DType{ooc::ElementType::u1}) return {};
  return fmt::format("read as bytes, for {} is no ending that names a type; --dtype {} reads {}",
                     ooc::ending_of(path), dtype_word(*meant), describe_type(*meant));
}

std::string doubt_about_data(const ooc::Source& source, const ooc::Format& format) {
  const std::vector<std::byte> head = glance(source);
  if (format.offset == 0) {
    if (const auto signature = recognise(head)) {
      return fmt::format("begins like {}, but is read as bytes; ooc-run info says more",
                         signature->name);
    }
  }
  const TypeGuess guess = guess_type(head, source.bytes());
  if (guess.evidence == Evidence::text)
    return "looks like text, whose bytes are read, not its numbers";
  if (!guess.type) return {};
  const std::size_t bytes = ooc::size_of(guess.type->element);
  if (bytes == 1 || (bytes > 2 && guess.evidence == Evidence::pattern)) return {};
  return fmt::format("looks like {}, but is read as bytes; --dtype {} reads it so",
                     describe_type(*guess.type), dtype_word(*guess.type));
}

/// Of a type that the user gave, where the ending names another.
std::string doubt_about_asked(const ooc::Source& source, const ooc::Format& format) {
  const std::filesystem::path& path = source.files().front().path();
  const auto named = ooc::type_of_ending(ooc::ending_of(path));
  if (source.format != "raw" || !format.type || !named || *named == format.type->element) return {};
  return fmt::format("read as {}, as asked; the ending says {}", describe_type(*format.type),
                     ooc::name_of(*named));
}

}  // namespace

bool type_is_default(const ooc::Source& source, const ooc::Format& format) {
  const std::string ending = ooc::ending_of(source.files().front().path());
  return source.format == "raw" && !format.type && !ooc::type_of_ending(ending);
}

std::optional<ooc::DType> type_meant_by_ending(const std::filesystem::path& path) {
  const std::string ending = ooc::ending_of(path);
  if (ending.empty()) return {};
  try {
    return ooc::parse_dtype(std::string_view(ending).substr(1));
  } catch (const ooc::Error&) {
    return {};
  }
}

std::string type_doubt(const ooc::Source& source, const ooc::Format& format) {
  if (source.bytes() == 0) return {};
  const std::filesystem::path& path = source.files().front().path();
  std::string doubt = doubt_about_asked(source, format);
  if (doubt.empty() && type_is_default(source, format)) {
    doubt = doubt_about_ending(path);
    if (doubt.empty()) doubt = doubt_about_data(source, format);
  }
  return doubt.empty() ? "" : path.string() + ": " + doubt;
}

}  // namespace ooc_run
