#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/dataset/judgement.hpp>

#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/content/type_guess.hpp>
#include <ooc/detail/dataset/sample.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "dataset/judge.hpp"

namespace ooc::detail {
namespace {

std::optional<FileSignature> text_signature(std::string_view head,
                                            const std::filesystem::path& path) {
  if (!looks_like_text(head)) return {};
  const std::string delimiter = head.find(',') == std::string_view::npos ? "" : ", delimiter=\",\"";
  return FileSignature{"text", "make numbers of it first: numpy.save(\"x.npy\", numpy.loadtxt(\"" +
                                   path.filename().string() + "\"" + delimiter + "))"};
}

bool is_float(ElementType type) {
  return visit(type, []<class T>(std::type_identity<T>) { return is_floating<T>; });
}

/// Recognises a file that holds no raw numbers.
std::optional<FileSignature> foreign_format(Beginning& file, const Format& format) {
  if (format.file != FileFormat::automatic || format.offset != 0) return {};
  const FileSample sample = file.sample();
  if (auto signature = recognise(sample)) return signature;
  // Integers may look like text by chance, for example pixels. So trust a type that is given, and
  // an ending that names an integer type. Floats do not consist of text bytes, so an ending that
  // names floats is wrong.
  const auto named = type_of_ending(ending_of_data(file.path()));
  if (format.type || (named && !is_float(*named))) return {};
  return text_signature(sample.head, file.path());
}

/// Returns the bytes of `beginning` that belong to the data, in whole groups of eight.
std::vector<std::byte> groups_of(std::span<const std::byte> beginning, std::uint64_t data_bytes) {
  const std::uint64_t bytes = std::min<std::uint64_t>(beginning.size(), data_bytes);
  const auto groups = beginning.first(round_down(bytes, std::uint64_t{8}));
  return {groups.begin(), groups.end()};
}

Remedy read_as(const DType& type, const std::string& effect) {
  const std::string code = code_of(type);
  const bool has_usual_order = code.front() != '>' && !type.is_struct();
  return {RemedyAction::set, "Format::type", has_usual_order ? code.substr(1) : code, effect};
}

}  // namespace

bool holds_numbers(Beginning& file, const Format& format) {
  return !foreign_format(file, format);
}

void require_numbers(Beginning& file, const Format& format) {
  const auto found = foreign_format(file, format);
  if (!found) return;
  std::vector<Remedy> remedies;
  if (found->data_offset) {
    remedies.push_back({RemedyAction::set, "Format::offset", std::to_string(*found->data_offset),
                        "where its numbers begin"});
  } else if (found->name == "text") {
    remedies.push_back(
        read_as({type_of_ending(ending_of_data(file.path())).value_or(ElementType::u1)},
                "reads its bytes all the same"));
  } else {
    remedies.push_back({RemedyAction::set, "Format::offset"});
  }
  remedies.push_back({RemedyAction::set, "Format::file", "raw"});
  throw Error(ErrorKind::bad_input, file.path().string() + ": looks like " + found->name,
              {.path = file.path(),
               .why = "its bytes would be read as numbers",
               .hint = found->hint,
               .remedies = std::move(remedies)});
}

bool type_is_default(const File& file, const Format& format) {
  return !format.type && !type_of_ending(ending_of_data(file.path()));
}

void require_known_type(const File& file, Beginning& beginning, const StoredArray& array,
                        const Format& format) {
  // .u8 and .i8 stand for bytes here, and for numbers of eight bytes in NumPy's code.
  const auto named = type_of_ending(ending_of_data(file.path()));
  const bool is_known = format.type || (named && ooc::size_of(*named) > 1);
  if (array.bytes == 0 || is_known) return;
  const std::vector<std::byte> sample =
      array.offset == 0 ? groups_of(beginning.first(glance_bytes), array.bytes)
                        : start_of(file, {.file = 0, .offset = array.offset, .bytes = array.bytes});
  const TypeGuess guess = guess_type(sample, array.bytes);
  if (!guess.is_sure || (named && ooc::size_of(*guess.type) != 8)) return;
  const std::string values = group_digits(std::to_string(array.bytes / ooc::size_of(*guess.type)));
  Remedy meant = read_as(
      *guess.type, "reads " + values + " values, the first ones " + range_of(sample, *guess.type));
  if (named && !guess.type->swapped) meant.value = name_of(guess.type->element);
  throw Error(ErrorKind::usage,
              file.path().string() + ": looks like " + std::string(name_of(guess.type->element)) +
                  (named ? ", but its ending says " + std::string(name_of(*named))
                         : ", but nothing says its type"),
              {.path = file.path(),
               .why = guess.reason,
               .remedies = {std::move(meant), read_as({ElementType::u1}, "counts bytes")}});
}

}  // namespace ooc::detail
