#include "dataset/type_doubt.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/content/byte_order.hpp>
#include <ooc/detail/content/type_guess.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/sample.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/dtype.hpp>
#include <optional>
#include <vector>

#include "cli/type_words.hpp"

namespace ooc_run {
namespace {

std::string doubt_about_ending(const std::filesystem::path& path, std::string_view option) {
  const auto meant = type_meant_by_ending(path);
  if (!meant || *meant == ooc::DType{ooc::ElementType::u1}) return {};
  return fmt::format("read as bytes, for {} is no ending that names a type; {}{} reads {}",
                     ooc::detail::ending_of_data(path), option, dtype_word(*meant),
                     describe_type(*meant));
}

/// Returns a message if data look like text but are read as bytes, since no type is known. If they
/// looked like numbers, ooc::open() would have refused them.
std::string doubt_about_data(const ooc::Source& source) {
  const ooc::detail::TypeGuess guess =
      ooc::detail::guess_type(ooc::detail::glance(source), source.bytes());
  return guess.evidence == ooc::detail::Evidence::text
             ? "looks like text, whose bytes are read, not its numbers"
             : "";
}

/// Returns the type that the data look like, if it differs from the type that the extension names,
/// and the latter is not plausible.
std::optional<ooc::DType> better_type(const ooc::Source& source) {
  const ooc::DType& named = *source.type();
  const std::vector<std::byte> sample = ooc::detail::glance(source);
  if (ooc::detail::looks_swapped(sample, named)) return ooc::DType{named.element, !named.swapped};
  const ooc::detail::TypeGuess guess = ooc::detail::guess_type(sample, source.bytes());
  constexpr double many = 0.1;
  const bool is_better = guess.is_sure && is_float(guess.type->element) &&
                         ooc::size_of(*guess.type) >= ooc::size_of(named) && *guess.type != named &&
                         ooc::detail::odd_share(sample, named) > many;
  return is_better ? guess.type : std::nullopt;
}

std::string doubt_about_named(const ooc::Source& source, std::string_view option) {
  const auto better = better_type(source);
  if (!better) return {};
  return fmt::format("looks like {}, but is read as {} ({}); {}{} reads it so",
                     describe_type(*better), describe_type(*source.type()), source.type_reason,
                     option, dtype_word(*better));
}

/// Returns a message if the extension names another type than the user.
std::string doubt_about_asked(const ooc::Source& source, const ooc::Format& format) {
  const std::filesystem::path path = ooc::detail::path_of(source);
  const auto named = ooc::type_of_ending(ooc::detail::ending_of_data(path));
  if (!format.type || !named || *named == format.type->element) return {};
  return fmt::format("read as {}, as asked; the ending says {}", describe_type(*format.type),
                     ooc::name_of(*named));
}

}  // namespace

std::string type_doubt(const ooc::Source& source, const ooc::Format& format,
                       std::string_view option) {
  if (!source.has_format(ooc::FileFormat::raw) || source.bytes() == 0 ||
      ooc::detail::files_of(source).empty()) {
    return {};
  }
  const std::filesystem::path path = ooc::detail::path_of(source);
  std::string doubt = doubt_about_asked(source, format);
  if (doubt.empty() &&
      ooc::detail::type_is_default(ooc::detail::files_of(source).front(), format)) {
    doubt = doubt_about_ending(path, option);
    if (doubt.empty()) doubt = doubt_about_data(source);
  } else if (doubt.empty() && !format.type) {
    doubt = doubt_about_named(source, option);
  }
  return doubt.empty() ? "" : path.string() + ": " + doubt;
}

}  // namespace ooc_run
