#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "base/shape.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/formats/zarr_chunks.hpp"
#include "dataset/formats/zarr_header.hpp"
#include "file/input_errors.hpp"

namespace ooc::detail {
namespace {

// A Zarr store is a tree of directories. Each array and each group is a directory with a header: a
// zarr.json or, in version 2, a .zarray or a .zgroup. If there are several, the first one counts.
constexpr std::array<std::string_view, 3> header_names{"zarr.json", ".zarray", ".zgroup"};
constexpr std::uint64_t longest_text = 100'000'000;
constexpr std::size_t most_levels = 64;

bool is_header(const std::filesystem::path& file) {
  return std::ranges::find(header_names, file.filename()) != header_names.end();
}

bool is_zarr(Beginning& file, const Format&) {
  return is_header(file.path());
}

std::optional<ZarrArray> header_in(Beginning& file) {
  const std::uint64_t bytes = file.bytes().value_or(longest_text + 1);
  if (bytes > longest_text) {
    throw not_understood(file.path(), "no more than 100000000 bytes are read of a Zarr header");
  }
  const std::string_view text = file.first_text(bytes);
  const bool is_new = file.path().filename() == header_names.front();
  return is_new ? parse_zarr_header(text, file.path()) : parse_zarr2_header(text, file.path());
}

StoredArray describe(const ZarrArray& array, std::string name) {
  StoredArray stored{.name = std::move(name),
                     .type = array.type,
                     .type_reason = "from its header",
                     .shape = array.shape,
                     .version = array.version,
                     .why_not = array.why_not};
  if (array.type.is_bool) stored.type_reason += ": bool, 0 or 1";
  if (array.why_not.empty()) stored.bytes = *product_of(array.shape, ooc::size_of(array.type));
  return stored;
}

/// Returns the header in a directory; empty if there is none. Links are not followed. Throws
/// Error(input).
std::filesystem::path header_in_directory(const std::filesystem::path& directory) {
  for (const std::string_view name : header_names) {
    std::error_code unknown;
    std::filesystem::path header = directory / name;
    const auto status = std::filesystem::symlink_status(header, unknown);
    if (status.type() == std::filesystem::file_type::none) {
      throw Error::from_errno(ErrorKind::input, "stat", unknown.value(), header);
    }
    if (std::filesystem::is_regular_file(status)) return header;
  }
  return {};
}

/// Lists the arrays in the directories of a group, in the order of their names. Links are not
/// followed.
class GroupList {
 public:
  std::vector<StoredArray> arrays_in(const std::filesystem::path& store) {
    visit(store, "", 0);
    return std::move(arrays_);
  }

 private:
  void visit(const std::filesystem::path& group, const std::string& name, std::size_t levels) {
    if (levels == most_levels) throw not_understood(group, "is deeper than 64 groups");
    std::vector<std::string> children;
    std::error_code failed;
    std::filesystem::directory_iterator entries(group, failed);
    for (; !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
      if (entries->is_symlink() || !entries->is_directory()) continue;
      children.push_back(entries->path().filename().string());
    }
    if (failed) throw Error::from_errno(ErrorKind::input, "read", failed.value(), group);
    std::ranges::sort(children);
    for (const std::string& child : children) {
      const std::filesystem::path header = header_in_directory(group / child);
      if (header.empty()) continue;
      const std::string whole = name.empty() ? child : name + "/" + child;
      const File file = File::open(header);
      Beginning beginning(file);
      if (const auto array = header_in(beginning)) {
        if (arrays_.size() == most_arrays) throw not_understood(group, "has too many arrays");
        arrays_.push_back(describe(*array, whole));
      } else {
        visit(group / child, whole, levels + 1);
      }
    }
  }

  std::vector<StoredArray> arrays_{};
};

std::vector<StoredArray> list_zarr(Beginning& file, const Format&) {
  if (file.path().native().find("://") != std::string::npos) {
    throw not_understood(file.path(), "Zarr is read from local directories only",
                         "copy the store to this machine first");
  }
  if (const auto array = header_in(file)) return {describe(*array, {})};
  return GroupList().arrays_in(dataset_path(file.path()));
}

File open_zarr(File header, const StoredArray& array) {
  const std::filesystem::path store = dataset_path(header.path()), directory = store / array.name;
  const std::filesystem::path own =
      array.name.empty() ? header.path() : header_in_directory(directory);
  if (own.empty()) throw changed_error(directory, "its header has vanished");
  const File file = File::open(own);
  Beginning beginning(file);
  const auto found = header_in(beginning);
  if (!found || describe(*found, array.name) != array) {
    throw changed_error(directory, "it is another array");
  }
  return File::of_pieces(find_zarr_chunks(*found, directory, store.string()));
}

}  // namespace

std::filesystem::path header_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  for (const std::string_view name : header_names) {
    if (std::filesystem::exists(path / name, ignored)) return path / name;
  }
  return path;
}

std::filesystem::path dataset_path(const std::filesystem::path& file) {
  if (!is_header(file)) return file;
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

const FormatParser zarr_format{.format = FileFormat::zarr,
                               .name = "zarr",
                               .title = "Zarr",
                               .recognise = is_zarr,
                               .list = list_zarr,
                               .open = open_zarr};

}  // namespace ooc::detail
