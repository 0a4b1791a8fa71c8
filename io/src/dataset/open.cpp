#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/shape.hpp"
#include "dataset/formats/beginning.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/judge.hpp"
#include "dataset/rest_producer.hpp"

namespace ooc {

using namespace detail;
namespace {

/// Returns the code of a type, for messages that tell bool from u1.
std::string held_by(const DType& type) {
  return type.is_bool ? "|b1" : code_of(type);
}

/// Returns the error for a part of a file in Fortran order: its first elements are not the array's.
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

/// Returns a file that is described, but not read.
File of_size(std::uint64_t bytes, const std::filesystem::path& path) {
  std::vector<EncodedArray::Piece> pieces;
  if (bytes != 0) pieces.push_back({.end = bytes, .offset = 0, .bytes = 0});
  return File::of_pieces(std::make_shared<const EncodedArray>(
      std::vector<File>{}, std::move(pieces), EncodedArray::Encoding{}, path.string()));
}

/// Builds a source from files of one type.
class SourceBuilder {
 public:
  /// `judges`: refuses files that do not look like their type, instead of noting it.
  SourceBuilder(const Format& format, bool judges)
      : format_(format), judges_(judges), elements_to_skip_(format.skip) {
    if (format.count) elements_left_ = *format.count;
  }

  /// `name`: of an array in the file; may be empty if it has but one.
  void add(File file, std::string_view name) {
    Beginning beginning(file);
    const FormatParser& parser = format_of(beginning, format_);
    const bool is_raw = !parser.describes_itself();
    if (is_raw) judge(beginning);
    StoredArray array = array_in(parser, beginning, name, file);
    if (is_raw && judges_) require_known_type(file, beginning, array, format_);
    const std::optional<std::uint64_t> columns = columns_of(array.shape);
    if (files_.empty()) {
      type_ = array.type;
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
    require_same_type(file, array.type);
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

  Opened build() {
    require_enough();
    if (files_.size() > 1) shape_.clear();
    Source source = SourceAccess::of_files(std::move(files_), extents_, type_);
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

 private:
  void judge(Beginning& beginning) {
    if (judges_) return require_numbers(beginning, format_);
    is_readable_ &= holds_numbers(beginning, format_);
    if (files_.empty() && format_.offset == 0) signature_ = recognise(beginning.sample());
  }

  /// Returns an array, or all of them as bytes. Replaces the file if the data are in others.
  StoredArray array_in(const FormatParser& parser, Beginning& beginning, std::string_view name,
                       File& file) {
    std::vector<StoredArray> arrays = parser.list(beginning, format_);
    const std::filesystem::path path = dataset_path(beginning.path());
    const bool is_clear = arrays.size() == 1 && arrays.front().why_not.empty();
    const bool shows_all = !judges_ && name.empty() && !is_clear;
    StoredArray array =
        shows_all ? bytes_of(arrays) : select_array(parser, arrays, path, name, format_);
    if (parser.open != nullptr) {
      file = shows_all ? of_size(array.bytes, path) : parser.open(file.path(), array);
    }
    is_readable_ &= !shows_all;
    if (files_.empty() && (shows_all || !array.name.empty())) arrays_ = std::move(arrays);
    return array;
  }

  /// Throws Error(bad_input) if there are fewer elements than are to be skipped and used.
  void require_enough() const {
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

  void require_same_type(const File& file, const DType& type) const {
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
  Extent extent_to_use(const File& file, const StoredArray& array, std::uint32_t index) {
    const std::size_t element_bytes = ooc::size_of(type_);
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
      throw Error(
          ErrorKind::bad_input,
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

  const Format& format_;
  const bool judges_;
  std::uint64_t bytes_behind_ = 0;
  std::uint64_t elements_to_skip_;
  std::uint64_t elements_left_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t elements_used_ = 0;
  std::vector<File> files_;
  std::vector<Extent> extents_;
  std::vector<std::uint64_t> shape_;
  std::optional<std::uint64_t> columns_;
  DType type_;
  std::string type_reason_;
  std::string version_;
  std::vector<ColumnMajorArray> column_major_;
  std::string_view format_name_;
  bool any_raw_ = false;
  std::string array_name_;
  std::vector<std::byte> beginning_;  // of the first file, if it is raw
  std::vector<StoredArray> arrays_;
  std::optional<FileSignature> signature_;
  bool is_readable_ = true;
};

Opened open_files(std::span<const std::filesystem::path> paths, const Format& format, bool judges) {
  if (paths.empty()) throw Error(ErrorKind::usage, "a dataset has at least one file");
  SourceBuilder builder{format, judges};
  for (const std::filesystem::path& path : paths) {
    if (paths.size() > 1 && is_pipe(path)) {
      throw Error(ErrorKind::usage, path.string() + ": a pipe cannot be one of several files",
                  {.path = path,
                   .why = "it can be read once, from beginning to end",
                   .hint = "save its data to a file"});
    }
    const Selector selector = selector_of(path);
    const bool asks_for_bytes = format.file == FileFormat::raw;
    builder.add(File::open(asks_for_bytes ? selector.path : header_of(selector.path)),
                selector.name);
  }
  return builder.build();
}

/// True if a format says that only some of the elements are to be used.
bool is_part(const Format& format) {
  return format.skip != 0 || format.count;
}

/// Returns a producer of the elements of a stream that `format` selects.
std::unique_ptr<Producer> selected(std::unique_ptr<Producer> all, const Format& format,
                                   std::size_t element_bytes) {
  if (!is_part(format) && format.offset == 0) return all;
  using Wide = unsigned __int128;
  const auto clamp = [](Wide bytes) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(std::min<Wide>(bytes, most));
  };
  std::optional<std::uint64_t> bytes;
  if (format.count) bytes = clamp(static_cast<Wide>(*format.count) * element_bytes);
  return part_of(std::move(all),
                 clamp(format.offset + static_cast<Wide>(format.skip) * element_bytes), bytes);
}

Error interrupted(const std::string& name) {
  return {ErrorKind::interrupted, name + ": interrupted before its type was known"};
}

/// Returns the error for a stream of unknown type, possibly because a stop was requested too early.
Error untyped(const Producer& stream, const std::stop_token& stop) {
  if (stop.stop_requested()) return interrupted(stream.name());
  return {ErrorKind::usage,
          "the type of " + stream.name() + " is not known",
          {.why = "only .npy and safetensors files say it themselves",
           .remedies = {{RemedyAction::set, "Format::type"}}}};
}

/// Opens a stream of a format that says type and shape itself.
Source open_array_stream(const FormatParser& parser, std::unique_ptr<Producer> stream,
                         Beginning& beginning, const Format& format) {
  if (parser.open != nullptr) {
    throw Error(ErrorKind::usage, beginning.path().string() + ": a stream has no files beside it",
                {.why = "the data of this format are in a directory", .hint = "give its path"});
  }
  const std::vector<StoredArray> arrays = parser.list(beginning, format);
  if (arrays.size() > 1) {
    throw Error(ErrorKind::usage,
                beginning.path().string() + ": has " + std::to_string(arrays.size()) + " arrays",
                {.why = "a stream is read as one array",
                 .hint = "save it to a file, and name one: FILE::NAME"});
  }
  StoredArray array = select_array(parser, arrays, beginning.path(), {}, format);
  if (array.by_columns && is_part(format)) throw no_part_by_columns(beginning.path(), format);
  const bool has_ended = beginning.has_ended();
  const std::size_t element_bytes = ooc::size_of(array.type);
  auto data =
      array_of(rest_of(std::move(stream), beginning.take(), has_ended), array.offset, array.bytes);
  Source source = SourceAccess::of_producer(selected(std::move(data), format, element_bytes),
                                            std::move(array.type), {});
  if (array.by_columns) SourceAccess::set_column_major(source, {{0, array.shape}});
  if (is_part(format)) {
    source.set_columns(columns_of(array.shape));
  } else {
    source.set_shape(std::move(array.shape));
  }
  source.format = parser.name;
  source.format_version = std::move(array.version);
  source.type_reason = std::move(array.type_reason);
  SourceAccess::set_array(source, std::move(array.name));
  return source;
}

Source open_stream(std::unique_ptr<Producer> stream, const Format& format,
                   std::span<const std::uint64_t> row_shape, std::stop_token stop) {
  if (stream == nullptr) throw Error(ErrorKind::usage, "an opened stream needs a producer");
  Beginning beginning(*stream, stop);
  const FormatParser& parser = format_of(beginning, format);
  if (parser.describes_itself()) {
    const std::string name = stream->name();
    try {
      return open_array_stream(parser, std::move(stream), beginning, format);
    } catch (const Error&) {
      if (!stop.stop_requested()) throw;  // else the header may have ended early
      throw interrupted(name);
    }
  }
  require_numbers(beginning, format);
  if (!format.type) throw untyped(*stream, stop);
  const bool has_ended = beginning.has_ended();
  auto all = rest_of(std::move(stream), beginning.take(), has_ended);
  Source source = SourceAccess::of_producer(
      selected(std::move(all), format, ooc::size_of(*format.type)), *format.type, row_shape);
  source.type_reason = "asked for";
  return source;
}

}  // namespace

Opened detail::open_unjudged(std::span<const std::filesystem::path> paths, const Format& format) {
  return open_files(paths, format, false);
}

Source open(std::span<const std::filesystem::path> paths, const Format& format) {
  if (paths.size() == 1 && is_pipe(paths.front())) return open(read_pipe(paths.front()), format);
  return open_files(paths, format, true).source;
}

Source open(std::initializer_list<std::filesystem::path> paths, const Format& format) {
  return open(std::span{paths.begin(), paths.size()}, format);
}

Source open(const std::filesystem::path& path, const Format& format) {
  return open(std::span{&path, 1}, format);
}

Source open(std::unique_ptr<Producer> producer, const Format& format, std::stop_token stop) {
  return open_stream(std::move(producer), format, {}, std::move(stop));
}

Source open_bytes(const std::filesystem::path& path) {
  return SourceAccess::of_bytes(File::open(path));
}

Source from_descriptor(int descriptor, DType type, std::span<const std::uint64_t> row_shape,
                       std::string name) {
  Source source = open_stream(read_descriptor(descriptor, std::move(name)),
                              {.type = std::move(type)}, row_shape, {});
  const bool has_rows = !source.has_format(FileFormat::raw) && !row_shape.empty();
  if (!has_rows || std::ranges::equal(source.row_shape(), row_shape)) return source;
  throw Error(ErrorKind::bad_input, source.name() + ": its rows have another shape than asked for",
              {.why = "its header says what its shape is"});
}

}  // namespace ooc
