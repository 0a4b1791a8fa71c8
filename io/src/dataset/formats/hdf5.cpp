#include <ooc/detail/content/file_signature.hpp>
#include <ooc/error.hpp>

#include <string>
#include <utility>
#include <vector>

#include "base/helper_program.hpp"
#include "dataset/formats/extent_table.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {
namespace {

constexpr const char* helper_name = "ooc-describe-hdf5";

/// Recognises a local file by its first bytes, or by those behind a user block of up to 8 KiB. An
/// offset skips the header, as it does that of a format that is not parsed.
bool is_hdf5_file(Beginning& file, const Format& format) {
  if (format.offset != 0 || file.file() == nullptr) return false;
  return has_hdf5_signature(file.sample().head);
}

/// Returns the error for a file that cannot be read, and says how its bytes can.
Error not_read(const std::filesystem::path& path, const std::string& problem, std::string why,
               std::string hint = {}) {
  return {ErrorKind::bad_input,
          path.string() + ": looks like HDF5" + problem,
          {.path = path,
           .why = std::move(why),
           .hint = std::move(hint),
           .remedies = {{RemedyAction::set, "Format::offset"},
                        {RemedyAction::set, "Format::file", "raw"}}}};
}

std::vector<StoredArray> list_hdf5(Beginning& file, const Format&) {
  const std::filesystem::path& path = file.path();
  if (file.file() == nullptr || file.file()->remote() != nullptr || file.file()->buffered() < 0) {
    throw not_read(path, ", which is read from local files only",
                   "another program, which opens its path, finds its arrays",
                   "copy it to this machine, and decompress it");
  }
  const std::filesystem::path program = find_helper(helper_name, "OOC_DESCRIBE_HDF5");
  if (program.empty() || !std::filesystem::exists(program)) {
    throw not_read(
        path, "", std::string(helper_name) + ", which finds its arrays, is not installed",
        "install it (package ooc-hdf5), or save the array as .npy: numpy.save(\"x.npy\", "
        "h5py.File(\"" +
            path.filename().string() + "\")[\"NAME\"])");
  }
  const HelperRun run = run_helper(program, path.string());
  if (!run.failure.empty()) {
    throw not_read(path, ", and cannot be read",
                   run.complaint.empty() ? std::string(helper_name) + ": " + run.failure
                                         : run.complaint + " (" + run.failure + ")");
  }
  file.file()->check_unchanged();
  return parse_extent_table(run.output, path, file.file()->size());
}

}  // namespace

const FormatParser hdf5_format{.format = FileFormat::hdf5,
                               .name = "hdf5",
                               .title = "HDF5",
                               .recognise = is_hdf5_file,
                               .list = list_hdf5,
                               .open = open_extents};

}  // namespace ooc::detail
