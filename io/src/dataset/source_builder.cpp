#include "dataset/source_builder.hpp"

#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/shape.hpp"
#include "dataset/formats/headers/record_codec.hpp"
#include "dataset/judge.hpp"
#include "dataset/slice.hpp"

namespace ooc::detail {
namespace {

/// Returns the code of a type, for messages that tell bool from u1.
std::string held_by(const DType& type) {
  return type.is_bool ? "|b1" : code_of(type);
}

/// Returns a field of an array of structs as an array of its own. Throws Error: `bad_input` if it
/// has no such field, `usage` if that has several elements.
StoredArray field_of(StoredArray structs, std::string_view name,
                     const std::filesystem::path& path) {
  const std::vector<Field>& fields = structs.type.fields;
  const auto field = std::ranges::find(fields, name, &Field::name);
  const std::string quoted = in_quotes(std::string(name));
  if (field == fields.end()) {
    throw Error(ErrorKind::bad_input, path.string() + ": has no field " + quoted,
                {.path = path, .why = "it holds structs " + code_of(structs.type)});
  }
  if (field->count != 1) {
    throw Error(
        ErrorKind::usage,
        path.string() + ": field " + quoted + " has " + std::to_string(field->count) + " elements",
        {.path = path, .why = "a field with one element in each struct is read"});
  }
  structs.record_bytes = structs.type.struct_bytes;
  structs.offset_in_record = field->offset;
  structs.name = name;
  DType element(field->element, field->swapped);
  element.is_bool = field->is_bool;
  structs.type = std::move(element);
  return structs;
}

/// Returns a file that is described, but not read.
File of_size(std::uint64_t bytes, const std::filesystem::path& path) {
  std::vector<EncodedArray::Piece> pieces;
  if (bytes != 0) pieces.push_back({.end = bytes, .offset = 0, .bytes = 0});
  return File::of_pieces(std::make_shared<const EncodedArray>(
      std::vector<File>{}, std::move(pieces), EncodedArray::Encoding{}, path.string()));
}

}  // namespace

Error no_part_by_columns(const std::filesystem::path& file, const Format& format) {
  std::vector<Remedy> remedies;
  if (format.skip != 0) remedies.push_back({RemedyAction::unset, "Format::skip"});
  if (format.count) remedies.push_back({RemedyAction::unset, "Format::count"});
  return Error(ErrorKind::usage,
               file.string() + ": a part of an array in Fortran order cannot be read",
               {.path = file,
                .why = "its elements are stored column by column",
                .hint = "save it by rows",
                .remedies = std::move(remedies)});
}

void SourceBuilder::add(File file, std::string_view name) {
  Beginning beginning(file);
  const FormatParser& parser = format_of(beginning, format_);
  const bool is_raw = !parser.describes_itself();
  if (is_raw) judge(beginning);
  StoredArray array = array_in(parser, beginning, name, file);
  if (is_raw && judges_) require_known_type(file, beginning, array, format_);
  const std::optional<std::uint64_t> columns = columns_of(array.shape);
  if (files_.empty()) {
    type_ = array.type;
    record_bytes_ = array.record_bytes;
    offset_in_record_ = array.offset_in_record;
    type_reason_ = std::move(array.type_reason);
    columns_ = columns;
    shape_ = array.shape;
    version_ = array.version;
    format_name_ = parser.name;
    array_name_ = std::move(array.name);
    if (is_raw) beginning_ = beginning.take();
  }
  bytes_behind_ += array.bytes_behind;
  if (array.version != version_) version_.clear();
  if (parser.name != format_name_) format_name_ = "mixed";
  any_raw_ |= is_raw;
  require_same_type(file, array);
  const auto index = static_cast<std::uint32_t>(files_.size());
  const std::uint64_t first = elements_used_;
  const Extent used = extent_to_use(file, array, index);
  if (array.by_columns && used.bytes != 0) {
    if (used.bytes != array.bytes) throw no_part_by_columns(file.path(), format_);
    column_major_.push_back({first, array.shape});
  }
  extents_.push_back(used);
  if (used.bytes != 0 && columns != columns_) columns_.reset();
  if (used.bytes != array.bytes) shape_.clear();
  files_.push_back(std::move(file));
}

Opened SourceBuilder::build() {
  require_enough();
  if (files_.size() > 1) shape_.clear();
  Source source = stored();
  source.set_shape(std::move(shape_));
  source.set_columns(columns_);
  source.format = format_name_;
  source.format_version = std::move(version_);
  source.type_reason = std::move(type_reason_);
  SourceAccess::set_column_major(source, std::move(column_major_));
  SourceAccess::set_bytes_behind(source, bytes_behind_);
  SourceAccess::set_array(source, std::move(array_name_));
  SourceAccess::set_beginning(source, std::move(beginning_));
  return {std::move(source), std::move(arrays_), std::move(signature_), is_readable_};
}

/// Returns the elements in the files, which are a field of records if they do not lie side by side.
Source SourceBuilder::stored() {
  if (record_bytes_ == 0) return SourceAccess::of_files(std::move(files_), extents_, type_);
  const Field element{.name = {},
                      .element = type_.element,
                      .swapped = type_.swapped,
                      .offset = offset_in_record_,
                      .is_bool = type_.is_bool};
  const DType record({}, false, {element}, record_bytes_);
  return field(SourceAccess::of_files(std::move(files_), extents_, record), element.name);
}

void SourceBuilder::judge(Beginning& beginning) {
  if (judges_) return require_numbers(beginning, format_);
  is_readable_ &= holds_numbers(beginning, format_);
  if (files_.empty() && format_.offset == 0) signature_ = recognise(beginning.sample());
}

/// Returns an array, or all of them as bytes. Replaces the file if the data are in others.
StoredArray SourceBuilder::array_in(const FormatParser& parser, Beginning& beginning,
                                    std::string_view name, File& file) {
  std::vector<StoredArray> arrays = parser.list(beginning, format_);
  const std::filesystem::path path = dataset_path(beginning.path());
  const auto [whole, slice] = cut_slice(name, arrays);
  const bool is_clear = arrays.size() == 1 && arrays.front().why_not.empty();
  const bool shows_all = !judges_ && name.empty() && !is_clear;
  const bool is_field = !whole.empty() && arrays.size() == 1 && arrays.front().name.empty() &&
                        arrays.front().type.is_struct();
  const std::string_view wanted = is_field ? std::string_view() : whole;
  StoredArray array =
      shows_all ? bytes_of(arrays) : select_array(parser, arrays, path, wanted, format_);
  if (!array.file.empty()) file = File::open(array.file);
  if (array.records != nullptr) file = of_records(std::move(file), array);
  if (parser.open != nullptr) {
    file = shows_all ? of_size(array.bytes, path) : parser.open(std::move(file), array);
  }
  const bool has_name = !array.name.empty();
  if (is_field) array = field_of(std::move(array), whole, path);
  if (!slice.empty()) {
    if (array.by_columns) throw no_part_by_columns(path, format_);
    array = slice_of(std::move(array), slice, path);
  }
  is_readable_ &= !shows_all;
  if (files_.empty() && (shows_all || has_name)) arrays_ = std::move(arrays);
  return array;
}

void SourceBuilder::require_enough() const {
  const std::filesystem::path& last = files_.back().path();
  if (elements_to_skip_ > 0) {
    throw Error(ErrorKind::bad_input,
                last.string() + ": there are only " +
                    std::to_string(format_.skip - elements_to_skip_) +
                    " elements, fewer than the " + std::to_string(format_.skip) + " to skip",
                {.path = last, .remedies = {{RemedyAction::lower, "Format::skip"}}});
  }
  if (format_.count && elements_left_ > 0) {
    throw Error(ErrorKind::bad_input,
                last.string() + ": there are only " +
                    std::to_string(*format_.count - elements_left_) + " elements" +
                    (format_.skip == 0 ? "" : " behind those to skip") + ", not the " +
                    std::to_string(*format_.count) + " asked for",
                {.path = last,
                 .remedies = {{RemedyAction::lower, "Format::count"},
                              {RemedyAction::unset, "Format::count"}}});
  }
}

void SourceBuilder::require_same_type(const File& file, const StoredArray& array) const {
  const bool lies_alike =
      array.record_bytes == record_bytes_ && array.offset_in_record == offset_in_record_;
  if (!lies_alike && array.bytes != 0) {
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": its elements lie otherwise than those of " +
                    files_.front().path().string(),
                {.path = file.path(), .why = "slices with gaps are joined if all have the same"});
  }
  const DType& type = array.type;
  if (type == type_) return;
  std::vector<Remedy> remedies;
  if (any_raw_) remedies.push_back({RemedyAction::set, "Format::type"});
  if (!type.is_struct() && !type_.is_struct()) {
    remedies.push_back({.change = RemedyAction::convert, .value = code_of(type_)});
  }
  throw Error(ErrorKind::bad_input,
              file.path().string() + ": holds " + held_by(type) + ", but " +
                  files_.front().path().string() + " holds " + held_by(type_),
              {.path = file.path(),
               .why = "all files of a dataset have one type",
               .remedies = std::move(remedies)});
}

/// Returns the part of a file to use, as `Format::skip` and `Format::count` say. Throws
/// Error(bad_input) if its bytes are not whole elements.
Extent SourceBuilder::extent_to_use(const File& file, const StoredArray& array,
                                    std::uint32_t index) {
  const std::size_t element_bytes = record_bytes_ != 0 ? record_bytes_ : ooc::size_of(type_);
  const std::uint64_t elements = array.bytes / element_bytes;
  const std::uint64_t rest = array.bytes % element_bytes;
  const std::uint64_t skipped = std::min(elements, elements_to_skip_);
  const std::uint64_t used = std::min(elements - skipped, elements_left_);
  elements_to_skip_ -= skipped;
  elements_left_ -= used;
  elements_used_ += used;
  if (rest != 0 && elements_left_ > 0) {
    std::vector<Remedy> remedies{{RemedyAction::set, "Format::offset"},
                                 {RemedyAction::set, "Format::type"}};
    if (elements_used_ != 0) {
      remedies.insert(remedies.begin(), {RemedyAction::set, "Format::count",
                                         std::to_string(elements_used_), "leaves the rest out"});
    }
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": " + std::to_string(array.bytes) +
                    (array.bytes == 1 ? " byte is" : " bytes are") + " not a whole number of " +
                    elements_of(type_),
                {.path = file.path(),
                 .why = std::to_string(rest) +
                        (rest == 1 ? " byte is left over after " : " bytes are left over after ") +
                        std::to_string(elements) + (elements == 1 ? " element" : " elements"),
                 .remedies = std::move(remedies)});
  }
  return {index, array.offset + skipped * element_bytes, used * element_bytes};
}

}  // namespace ooc::detail
