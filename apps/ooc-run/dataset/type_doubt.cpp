#include "dataset/type_doubt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ooc/detail/base/dtype.hpp>
#include <ooc/error.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "cli/type_words.hpp"
#include "dataset/file_facts.hpp"
#include "dataset/file_signature.hpp"
#include "dataset/type_guess.hpp"

namespace ooc_run {
namespace {

std::string doubt_about_ending(const std::filesystem::path& path) {
  const auto meant = type_meant_by_ending(path);
  if (!meant || *meant == ooc::DType{ooc::ElementType::u1}) return {};
  return fmt::format("read as bytes, for {} is no ending that names a type; --dtype {} reads {}",
                     ooc::ending_of(path), dtype_word(*meant), describe_type(*meant));
}

std::string doubt_about_data(const ooc::Source& source) {
  const TypeGuess guess = guess_type(glance(source), source.bytes());
  if (guess.evidence == Evidence::text)
    return "looks like text, whose bytes are read, not its numbers";
  if (!guess.type) return {};
  const std::size_t bytes = ooc::size_of(guess.type->element);
  if (bytes == 1 || (bytes > 2 && guess.evidence == Evidence::pattern)) return {};
  return fmt::format("looks like {}, but is read as bytes; --dtype {} reads it so",
                     describe_type(*guess.type), dtype_word(*guess.type));
}

/// True if the data do not look like the type that the ending names. Integers are doubtful only if
/// the other byte order would make them small. Floats are doubtful if many values are odd and the
/// guess is another type. If nearly all are odd, the type is accepted: some data have only very
/// large or very small numbers, while bytes of another type give odd and usual values.
bool is_doubtful(ooc::DType named, const TypeGuess& guess, std::span<const std::byte> sample) {
  if (!guess.type || guess.evidence != Evidence::values || *guess.type == named) return false;
  constexpr double many = 0.1, nearly_all = 0.97;
  if (is_float(named.element)) {
    const double odd = odd_share(sample, named);
    return odd > many && odd < nearly_all;
  }
  return guess.type->swapped && !is_float(guess.type->element) &&
         ooc::size_of(guess.type->element) == ooc::size_of(named.element);
}

std::string doubt_about_named(const ooc::Source& source) {
  const std::vector<std::byte> sample = glance(source);
  const TypeGuess guess = guess_type(sample, source.bytes());
  if (!is_doubtful(*source.type(), guess, sample)) return {};
  return fmt::format("looks like {}, but is read as {} ({}); --dtype {} reads it so",
                     describe_type(*guess.type), describe_type(*source.type()), source.type_reason,
                     dtype_word(*guess.type));
}

/// Returns a message if the ending names another type than the one that the user gave.
std::string doubt_about_asked(const ooc::Source& source, const ooc::Format& format) {
  const std::filesystem::path& path = source.files().front().path();
  const auto named = ooc::type_of_ending(ooc::ending_of(path));
  if (source.format != "raw" || !format.type || !named || *named == format.type->element) return {};
  return fmt::format("read as {}, as asked; the ending says {}", describe_type(*format.type),
                     ooc::name_of(*named));
}

/// Recognises a file that holds no raw numbers. Returns nothing if the file cannot be read: the run
/// reports that error.
std::optional<FileSignature> foreign_format(const ooc::File& file) {
  try {
    const bool is_npy = ooc::ending_of(file.path()) == ".npy" || ooc::begins_like_npy(file);
    if (file.size() == 0 || is_npy) return {};
    const std::vector<std::byte> head = head_of(file);
    if (auto signature = recognise(head)) return signature;
    // Integers may look like text by chance, for example pixels. So trust an ending that names an
    // integer type. Floats do not consist of text bytes, so an ending that names floats is wrong.
    const auto named = ooc::type_of_ending(ooc::ending_of(file.path()));
    if ((named && !is_float(*named)) || !looks_like_text(head)) return {};
    const bool has_commas = std::ranges::find(head, std::byte{','}) != head.end();
    return FileSignature{"text", fmt::format("make numbers of it first: numpy.save(\"x.npy\", "
                                             "numpy.loadtxt(\"{}\"{}))",
                                             file.path().filename().string(),
                                             has_commas ? ", delimiter=\",\"" : "")};
  } catch (const ooc::Error&) {
    return {};
  }
}

std::optional<ooc::File> try_open(const std::filesystem::path& path) {
  try {
    return ooc::File::open(path);
  } catch (const ooc::Error&) {
    return {};
  }
}

}  // namespace

bool holds_numbers(const ooc::File& file) {
  return !foreign_format(file);
}

void require_numbers(const ooc::File& file) {
  const auto found = foreign_format(file);
  if (!found) return;
  const ooc::DType type{
      ooc::type_of_ending(ooc::ending_of(file.path())).value_or(ooc::ElementType::u1)};
  const std::string anyway = fmt::format(
      "--dtype {} reads {} all the same", dtype_word(type),
      type.element == ooc::ElementType::u1 ? "its bytes" : "it as " + describe_type(type));
  throw ooc::Error(
      ooc::ErrorKind::bad_input,
      fmt::format("{}: looks like {}", file.path().string(), found->name),
      {.path = file.path(),
       .why = fmt::format("its bytes would be read as numbers of {}", describe_type(type)),
       .hint = found->hint.empty() ? anyway : found->hint + "; " + anyway});
}

void require_numbers(const std::filesystem::path& path) {
  if (const auto file = try_open(path)) require_numbers(*file);
}

bool type_is_default(const ooc::Source& source, const ooc::Format& format) {
  const std::string ending = ooc::ending_of(source.files().front().path());
  return source.format == "raw" && !format.type && !ooc::type_of_ending(ending);
}

std::string type_doubt(const ooc::Source& source, const ooc::Format& format) {
  if (source.bytes() == 0 || source.is_produced()) return {};
  const std::filesystem::path& path = source.files().front().path();
  std::string doubt = doubt_about_asked(source, format);
  if (doubt.empty() && type_is_default(source, format)) {
    doubt = doubt_about_ending(path);
    if (doubt.empty()) doubt = doubt_about_data(source);
  } else if (doubt.empty() && source.format == "raw" && !format.type) {
    doubt = doubt_about_named(source);
  }
  return doubt.empty() ? "" : path.string() + ": " + doubt;
}

}  // namespace ooc_run
