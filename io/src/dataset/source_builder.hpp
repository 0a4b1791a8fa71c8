#pragma once

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/formats/beginning.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {

/// Returns the error for a part of a file in Fortran order: its first elements are not the array's.
Error no_part_by_columns(const std::filesystem::path& file, const Format& format);

/// Builds a source from files of one type.
class SourceBuilder {
 public:
  /// `judges`: refuses files that do not look like their type, instead of noting it. The format
  /// must outlive the builder.
  SourceBuilder(const Format& format, bool judges)
      : format_(format), judges_(judges), elements_to_skip_(format.skip) {
    if (format.count) elements_left_ = *format.count;
  }

  /// Adds the data of a file. `name`: of an array in the file, with a slice if only a part is
  /// wanted; may be empty if it has but one. Throws Error as open() does.
  void add(File file, std::string_view name);

  /// Returns the dataset. Throws Error(bad_input) if there are fewer elements than are to be
  /// skipped and used.
  Opened build();

 private:
  void judge(Beginning& beginning);
  StoredArray array_in(const FormatParser& parser, Beginning& beginning, std::string_view name,
                       File& file);
  Source stored();
  void require_enough() const;
  void require_same_type(const File& file, const StoredArray& array) const;
  Extent extent_to_use(const File& file, const StoredArray& array, std::uint32_t index);

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
  std::size_t record_bytes_ = 0, offset_in_record_ = 0;  // as in StoredArray; of all files
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

}  // namespace ooc::detail
