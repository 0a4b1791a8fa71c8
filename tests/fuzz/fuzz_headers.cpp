// An input is the number of a format (one byte) and a file: a header, and perhaps the data behind
// it. The arrays must lie in their file without overlapping, or it is refused. Files of data, which
// a header may name, are beside it.

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "allocated_bytes.hpp"
#include "shape_check.hpp"

namespace {

using namespace ooc::detail;

/// A directory in memory with files of data. It is removed at the end.
class Directory {
 public:
  Directory() {
    fuzz::require(::mkdtemp(path_.data()) != nullptr, "a directory can be made");
    for (const char* const name : {"x.raw", "x.img", "x.sigmf-data"}) {
      write(name, std::string(48, '\1'));
    }
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    std::filesystem::path path = std::filesystem::path(path_) / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::string path_ = "/dev/shm/ooc-fuzz-XXXXXX";
};

struct Kind {
  const FormatParser& format;
  std::string_view name;
};

void check(const Kind& kind, const File& file) {
  try {
    Beginning beginning(file);
    kind.format.recognise(beginning, {});
    const std::vector<StoredArray> arrays = kind.format.list(beginning, {});
    const bool is_beside = arrays.size() == 1 && !arrays.front().file.empty();
    if (is_beside) {
      fuzz::require_places(arrays, File::open(arrays.front().file), 0);
    } else {
      fuzz::require_places(arrays, file, 0);
    }
  } catch (const ooc::Error& error) {
    const bool may_be_missing = error.kind() == ooc::ErrorKind::input;  // a file of data
    fuzz::require(may_be_missing || error.kind() == ooc::ErrorKind::bad_input,
                  "a file is understood, or bad input");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Directory directory;
  const std::array kinds{Kind{fits_format, "x.fits"},       Kind{vectors_format, "x.fbin"},
                         Kind{vectors_format, "x.bvecs"},   Kind{nifti_format, "x.nii"},
                         Kind{wav_format, "x.wav"},         Kind{nrrd_format, "x.nhdr"},
                         Kind{metaimage_format, "x.mhd"},   Kind{envi_format, "x.hdr"},
                         Kind{sigmf_format, "x.sigmf-meta"}};
  if (size == 0 || data[0] >= kinds.size()) return 0;
  const Kind& kind = kinds[data[0]];
  const File file = File::open(directory.write(kind.name, fuzz::as_text(data + 1, size - 1)));
  const std::uint64_t before = fuzz::allocated_bytes();
  check(kind, file);
  constexpr std::uint64_t first_pages = 1'000'000, most_each = 200;  // bytes of memory
  fuzz::require(fuzz::allocated_bytes() - before <= first_pages + most_each * size,
                "a file costs little memory");
  return 0;
}
