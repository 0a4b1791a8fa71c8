#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/shape.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc {

using namespace detail;
namespace {

/// Returns the number of elements of a row of a source that is to be cut into rows. Throws
/// Error(usage) if there is no one number.
std::uint64_t known_columns(const Source& source) {
  if (source.columns().value_or(0) != 0) return *source.columns();
  throw Error(ErrorKind::usage, source.name() + ": has no rows of one length",
              {.hint = "section() and shard() count elements; Source::set_columns() says how long "
                       "rows are"});
}

Error no_such_section(const Source& whole, std::uint64_t held, std::uint64_t first,
                      std::uint64_t count, const std::string& unit) {
  return {ErrorKind::usage, whole.name() + ": has " + std::to_string(held) + " " + unit + ", not " +
                                std::to_string(count) + " from index " + std::to_string(first) +
                                " on"};
}

/// Returns an array as a source of rows. Throws Error(usage) unless it has whole ones.
Source of_array(File array, DType type, std::uint64_t columns) {
  const std::uint64_t bytes = array.size(), element_bytes = ooc::size_of(type);
  const std::uint64_t elements = bytes / element_bytes;
  if (columns == 0 || bytes % element_bytes != 0 || elements % columns != 0) {
    throw Error(ErrorKind::usage, array.path().string() + ": " + std::to_string(bytes) +
                                      " bytes are not whole rows of " + std::to_string(columns) +
                                      " " + elements_of(type));
  }
  std::vector<File> files;
  files.push_back(std::move(array));
  Source source = SourceAccess::of_files(std::move(files), {{0, 0, bytes}}, std::move(type));
  if (columns != 1) source.set_shape({elements / columns, columns});
  source.format = "memory";
  source.type_reason = "given";
  return source;
}

}  // namespace

namespace detail {

Source SourceAccess::of_bytes(File file) {
  Source source;
  source.storage_ = StorageMap({{0, 0, file.size()}});
  std::vector<File> files;
  files.push_back(std::move(file));
  source.files_ = std::make_shared<const std::vector<File>>(std::move(files));
  return source;
}

Source SourceAccess::of_files(std::vector<File> files, const std::vector<Extent>& extents,
                              DType type) {
  Source source;
  for (const Extent& extent : extents) {
    if (extent.file >= files.size()) throw Error(ErrorKind::bad_input, "an extent of no file");
    const File& file = files[extent.file];
    if (extent.offset > file.size() || extent.bytes > file.size() - extent.offset) {
      throw Error(ErrorKind::bad_input,
                  file.path().string() + ": ends before byte " + std::to_string(extent.offset) +
                      " + " + std::to_string(extent.bytes),
                  {.path = file.path(), .offset = extent.offset});
    }
  }
  source.storage_ = StorageMap(extents);
  if (source.bytes() % ooc::size_of(type) != 0) {
    throw Error(ErrorKind::bad_input, std::to_string(source.bytes()) +
                                          " bytes are not a whole number of " + elements_of(type));
  }
  source.files_ = std::make_shared<const std::vector<File>>(std::move(files));
  source.type_ = std::move(type);
  return source;
}

Source SourceAccess::of_producer(std::unique_ptr<Producer> producer, DType type,
                                 std::span<const std::uint64_t> row_shape) {
  if (producer == nullptr) throw Error(ErrorKind::usage, "a produced source needs a producer");
  Source source;
  source.produced_ = std::make_unique<Source::Produced>();
  source.produced_->producer = std::move(producer);
  source.type_ = std::move(type);
  source.columns_ = product_of(row_shape);
  if (source.columns_.value_or(0) == 0) {
    throw Error(ErrorKind::usage,
                "a row has at least one element, and at most as many as 64 bits count");
  }
  return source;
}

std::span<const File> SourceAccess::files(const Source& source) noexcept {
  return source.files_ ? std::span<const File>(*source.files_) : std::span<const File>();
}

std::span<const std::byte> SourceAccess::device_memory(const Source& source) noexcept {
  const std::span<const File> all = files(source);
  if (all.empty() || !all.front().is_on_device()) return {};
  return {all.front().memory() + source.storage_.front().offset,
          static_cast<std::size_t>(source.bytes())};
}

void SourceAccess::require_unread(const Source& source) {
  if (source.files_ == nullptr && !source.is_produced()) {
    throw Error(ErrorKind::usage, "a source that was moved from has no data",
                {.hint = "use the source that it was moved to"});
  }
  if (!source.is_produced() || !source.produced_->taken.test()) return;
  throw Error(ErrorKind::usage, source.name() + ": was read already",
              {.why = "what a producer makes can be read once"});
}

void SourceAccess::begin_producer(const Source& source) {
  require_unread(source);
  if (source.is_produced()) source.produced_->taken.test_and_set();
}

void SourceAccess::end_producer(const Source& source, std::uint64_t read_bytes) noexcept {
  if (source.is_produced()) source.produced_->bytes = read_bytes;
}

std::filesystem::path path_of(const Source& source) {
  const std::span<const File> files = files_of(source);
  return files.empty() ? std::filesystem::path() : files.front().path();
}

}  // namespace detail

std::optional<std::uint64_t> Source::rows() const noexcept {
  if (!columns_) return {};
  if (*columns_ == 0) return shape_.empty() ? 0 : shape_.front();
  return elements() / *columns_;
}

std::string Source::name() const {
  if (is_produced()) return produced_->producer->name();
  const std::span<const File> files = files_of(*this);
  if (files.empty()) return "an input";
  return files.front().path().string() + (array_.empty() ? "" : "::" + shortened(array_));
}

bool Source::has_format(FileFormat one) const noexcept {
  return std::ranges::any_of(all_formats(), [&](const FormatParser* parser) {
    return parser->format == one && parser->name == format;
  });
}

void Source::set_shape(std::vector<std::uint64_t> shape) {
  shape_ = std::move(shape);
  columns_ = columns_of(shape_);
}

std::optional<std::string> Source::check_unchanged() const {
  const File* first = nullptr;
  std::size_t others = 0;
  for (const File& file : files_of(*this)) {
    file.check_unchanged();
    if (file.is_as_it_was()) continue;
    others += first != nullptr;
    if (first == nullptr) first = &file;
  }
  if (first == nullptr) return std::nullopt;
  const std::string more = others == 0 ? "" : " and " + std::to_string(others) + " more";
  return first->path().string() + more +
         ": renamed, replaced or given other attributes meanwhile; this is of what was opened";
}

Source Source::share() const {
  Source same;
  same.files_ = files_;
  same.storage_ = storage_;
  same.bytes_behind_ = bytes_behind_;
  same.is_section_ = is_section_;
  same.bytes_before_ = bytes_before_;
  same.whole_bytes_ = whole_bytes_;
  same.type_ = type_;
  same.field_ = field_;
  same.shape_ = shape_;
  same.whole_shape_ = whole_shape_;
  same.columns_ = columns_;
  same.column_major_ = column_major_;
  same.array_ = array_;
  same.beginning_ = beginning_;
  same.format = format;
  same.format_version = format_version;
  same.type_reason = type_reason;
  return same;
}

Source shard(const Source& whole, std::uint64_t index, std::uint64_t count,
             std::uint64_t partition) {
  if (index >= count || partition == 0) {
    throw Error(ErrorKind::usage,
                "there is no shard " + std::to_string(index) + " of " + std::to_string(count),
                {.hint = "the first one is 0"});
  }
  const std::uint64_t elements = whole.elements();
  const std::uint64_t partitions = divide_up(elements, partition);
  const auto border = [&](std::uint64_t shard) {
    const auto before = static_cast<unsigned __int128>(partitions) * shard / count * partition;
    return before < elements ? static_cast<std::uint64_t>(before) : elements;
  };
  return section(whole, border(index), border(index + 1) - border(index));
}

Source section(const Source& whole, std::uint64_t first, std::uint64_t count) {
  SourceAccess::require_unread(whole);
  if (whole.is_produced()) {
    throw Error(ErrorKind::usage, whole.name() + ": has no sections",
                {.why = "what a producer makes is read once, from beginning to end",
                 .hint = "write it to a file first"});
  }
  const std::uint64_t element_bytes = whole.element_bytes(), elements = whole.elements();
  if (first > elements || count > elements - first) {
    throw no_such_section(whole, elements, first, count, "elements");
  }
  Source part = whole.share();
  if (!whole.is_section_) part.whole_shape_ = std::move(part.shape_);
  part.shape_.clear();
  part.bytes_behind_ = 0;
  part.is_section_ = true;
  part.storage_ = whole.storage_.section(first * element_bytes, count * element_bytes);
  part.bytes_before_ = whole.bytes_before() + first * element_bytes;
  part.whole_bytes_ = whole.whole_bytes();
  return part;
}

Source field(const Source& structs, std::string_view name) {
  SourceAccess::require_unread(structs);
  const auto fail = [&](const std::string& problem, std::string why, std::string hint) {
    throw Error(ErrorKind::usage, structs.name() + ": " + problem,
                {.why = std::move(why), .hint = std::move(hint)});
  };
  const DType held = structs.type().value_or(DType{});
  const std::string quoted = "'" + std::string(name) + "'";
  if (!held.is_struct()) {
    fail("has no field " + quoted, "it holds " + elements_of(held), "open it with Format::type");
  }
  const auto found = std::ranges::find(held.fields, name, &Field::name);
  if (found == held.fields.end()) {
    fail("has no field " + quoted, "it holds structs " + code_of(held), "");
  }
  if (found->count != 1) {
    fail("field " + quoted + " has " + std::to_string(found->count) + " elements",
         "a field that is read by itself is one element of each struct",
         "read the structs, with an Input that declares it");
  }
  if (structs.is_produced()) {
    fail("its fields are not read by themselves", "what a producer makes is read once",
         "write it to a file first, or read the structs");
  }
  Source elements = structs.share();
  elements.type_ = DType(found->element, found->swapped);
  elements.type_->is_bool = found->is_bool;
  if (held.struct_bytes != found->bytes()) elements.field_ = {found->offset, held.struct_bytes};
  return elements;
}

Source section_rows(const Source& whole, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t columns = known_columns(whole), rows = whole.elements() / columns;
  if (!whole.is_produced() && (first > rows || count > rows - first)) {
    throw no_such_section(whole, rows, first, count,
                          "rows of " + std::to_string(columns) + " elements");
  }
  return section(whole, first * columns, count * columns);
}

Source shard_rows(const Source& whole, std::uint64_t index, std::uint64_t count,
                  std::uint64_t partition) {
  std::uint64_t elements = 0;
  if (__builtin_mul_overflow(partition, known_columns(whole), &elements)) {
    throw Error(ErrorKind::usage, "so many rows no partition has: " + std::to_string(partition));
  }
  return shard(whole, index, count, elements);
}

Source from_memory(std::span<const std::byte> memory, DType type, std::uint64_t columns,
                   std::string name) {
  return of_array(File::in_memory(memory, std::move(name)), std::move(type), columns);
}

Source from_device_memory(std::span<const std::byte> memory, DType type, std::uint64_t columns,
                          std::string name) {
  const bool any_swapped = type.swapped || std::ranges::any_of(type.fields, &Field::swapped);
  if (any_swapped) {
    throw Error(ErrorKind::usage, name + ": has another byte order than this machine",
                {.why = "a pass does not change the memory of a program"});
  }
  return of_array(File::in_device_memory(memory, std::move(name)), std::move(type), columns);
}

Source produced(std::unique_ptr<Producer> producer, DType type,
                std::span<const std::uint64_t> row_shape) {
  return SourceAccess::of_producer(std::move(producer), std::move(type), row_shape);
}

}  // namespace ooc
