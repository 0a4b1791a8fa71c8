#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/shape.hpp"
#include "codec/compression.hpp"
#include "dataset/formats/beginning.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/judge.hpp"
#include "dataset/rest_producer.hpp"
#include "dataset/source_builder.hpp"

namespace ooc {

using namespace detail;
namespace {

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
  const auto refuse = [&](std::string why, std::string hint) {
    throw Error(
        ErrorKind::usage,
        beginning.path().string() + ": a stream cannot be read as " + std::string(parser.title),
        {.why = std::move(why), .hint = std::move(hint)});
  };
  if (parser.open != nullptr) {
    refuse("its data are not one piece, from beginning to end",
           "give the path of a file or a directory");
  }
  const std::vector<StoredArray> arrays = parser.list(beginning, format);
  if (arrays.size() > 1) {
    throw Error(ErrorKind::usage,
                beginning.path().string() + ": has " + std::to_string(arrays.size()) + " arrays",
                {.why = "a stream is read as one array",
                 .hint = "save it to a file, and name one: FILE::NAME"});
  }
  StoredArray array = select_array(parser, arrays, beginning.path(), {}, format);
  if (array.records != nullptr) {
    refuse("its numbers are decoded piece by piece", "save it to a file, and decompress it");
  }
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
  const std::string ending = ending_of_data(beginning.path());
  const auto named = type_of_ending(ending);
  if (!format.type && !named) throw untyped(*stream, stop);
  const DType type = format.type ? *format.type : DType{*named};
  const bool has_ended = beginning.has_ended();
  auto all = rest_of(std::move(stream), beginning.take(), has_ended);
  Source source = SourceAccess::of_producer(selected(std::move(all), format, ooc::size_of(type)),
                                            type, row_shape);
  source.type_reason = format.type ? "asked for" : "from " + ending;
  return source;
}

/// Returns a file that is decoded from beginning to end as its encoded bytes.
Opened described_stream(File file, Compression compression) {
  const std::uint64_t bytes = file.size();
  std::vector<File> files;
  files.push_back(std::move(file));
  Source source = SourceAccess::of_files(std::move(files), {{0, 0, bytes}}, DType{});
  source.type_reason = "its bytes, as they are stored";
  return {.source = std::move(source),
          .signature = FileSignature{std::string(name_of(compression)),
                                     "it is one stream, which is read once"},
          .is_readable = false};
}

Error one_stream(const File& file, Compression compression) {
  const std::string name(name_of(compression));
  return {ErrorKind::bad_input,
          file.path().string() + ": is one stream of " + name + ", or cut off",
          {.path = file.path(),
           .why = "it is read once, from beginning to end, and not in parts or as one of several",
           .hint = "decompress it, or compress it in blocks by bgzip"}};
}

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
    File file = File::open(asks_for_bytes ? selector.path : header_of(selector.path));
    const auto compression = asks_for_bytes ? std::nullopt : compression_of(file);
    if (auto frames = compression ? find_frames(file, *compression) : nullptr) {
      file = File::of_pieces(std::move(frames));
    } else if (compression) {
      if (paths.size() > 1 || !selector.name.empty()) throw one_stream(file, *compression);
      if (judges) {
        auto stream = decoded(read_file(std::move(file)), *compression);
        return {.source = open_stream(std::move(stream), format, {}, {})};
      }
      return described_stream(std::move(file), *compression);
    }
    builder.add(std::move(file), selector.name);
  }
  return builder.build();
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
