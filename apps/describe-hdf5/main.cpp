// ooc-describe-hdf5 FILE: prints where the datasets of an HDF5 file are, as ooc.extents/1
// (docs/formats.md). libooc starts it, so that libhdf5 is not part of programs that use libooc.

#include <hdf5.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "chunks.hpp"
#include "dataset.hpp"
#include "handle.hpp"

namespace ooc_describe {
namespace {

static_assert(std::endian::native == std::endian::little, "places are printed as they are kept");

using Json = nlohmann::json;

/// Returns JSON as a text. Bytes that are no UTF-8 are replaced.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Refuses to follow a link to another file.
herr_t stay_in_file(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

/// The arrays of a file, found by a walk over all of its links.
class Description {
 public:
  explicit Description(hid_t file) : file_(file), lister_(file) {
    checked(H5Pset_elink_cb(links_, stay_in_file, nullptr), "H5Pset_elink_cb");
    checked(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, add_link, this), "the walk over all links");
  }

  const Json& arrays() const noexcept { return arrays_; }
  const std::vector<std::uint64_t>& entries() const noexcept { return entries_; }

 private:
  static herr_t add_link(hid_t, const char* path, const H5L_info_t* link, void* description) {
    try {
      static_cast<Description*>(description)->add("/" + std::string(path), *link);
      return 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", path, error.what());
      return -1;
    }
  }

  /// Adds the dataset to which a link leads. Links that lead nowhere, or to what is no dataset, are
  /// left out.
  void add(const std::string& name, const H5L_info_t& link) {
    if (link.type == H5L_TYPE_EXTERNAL) {
      arrays_.push_back(
          {{"name", name}, {"why_not", "what is in another file (an external link)"}});
      return;
    }
    H5O_info_t object{};
    if (H5Oget_info_by_name(file_, name.c_str(), &object, links_) < 0) {
      if (link.type == H5L_TYPE_HARD) throw std::runtime_error("it cannot be read");
      return;
    }
    if (object.type != H5O_TYPE_DATASET) return;
    const auto [known, is_new] = names_.emplace(object.addr, name);
    if (!is_new) {
      arrays_.push_back({{"name", name}, {"alias", known->second}});
      return;
    }
    const DatasetHandle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "H5Dopen2");
    Json array = describe_dataset(dataset, lister_, entries_);
    array["name"] = name;
    arrays_.push_back(std::move(array));
  }

  hid_t file_;
  ChunkLister lister_;
  PropertyHandle links_{H5Pcreate(H5P_LINK_ACCESS), "H5Pcreate"};
  std::map<haddr_t, std::string> names_{};  // of datasets, by the places of their headers
  Json arrays_ = Json::array();
  std::vector<std::uint64_t> entries_{};
};

/// Returns the reason that libhdf5 gives last, which is the most precise one.
herr_t take_reason(unsigned, const H5E_error2_t* error, void* reason) {
  if (error->desc != nullptr) *static_cast<std::string*>(reason) = error->desc;
  return 0;
}

void describe(const char* path) {
  const PropertyHandle access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  // File systems that cannot lock files are no reason to fail.
  checked(H5Pset_file_locking(access, true, true), "H5Pset_file_locking");
  const hid_t opened = H5Fopen(path, H5F_ACC_RDONLY, access);
  if (opened < 0) {
    std::string reason;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, take_reason, &reason);
    throw std::runtime_error("libhdf5 cannot open it: " + reason);
  }
  const FileHandle file(opened, "H5Fopen");
  const Description found(file);
  const Json table{{"schema", "ooc.extents/1"},
                   {"files", {std::filesystem::path(path).filename().string()}},
                   {"arrays", found.arrays()}};
  const std::string line = text_of(table) + "\n";
  const auto& entries = found.entries();
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() ||
      std::fwrite(entries.data(), sizeof entries[0], entries.size(), stdout) != entries.size() ||
      std::fflush(stdout) != 0) {
    throw std::runtime_error("the output cannot be written");
  }
}

}  // namespace
}  // namespace ooc_describe

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: ooc-describe-hdf5 FILE\n", stderr);
    return 2;
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  try {
    ooc_describe::describe(words[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
