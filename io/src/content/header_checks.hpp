#pragma once

#include <ooc/detail/content/file_signature.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// Checks of the structure behind magic bytes. Each is true if the sample fits its format.

namespace ooc::detail::content {

/// Checks the structure of a format. See the table of magic bytes in file_signature.cpp.
using Check = bool (*)(const FileSample&);

bool is_avro(const FileSample& sample);
bool is_bigtiff(const FileSample& sample);
bool is_blosc(const FileSample& sample);
bool is_compress(const FileSample& sample);  // .Z
bool is_dicom(const FileSample& sample);
bool is_elf(const FileSample& sample);
bool is_gguf(const FileSample& sample);
bool is_grib(const FileSample& sample);
bool is_gzip(const FileSample& sample);
bool is_jpeg(const FileSample& sample);
bool is_lz4(const FileSample& sample);
bool is_lzma(const FileSample& sample);
bool is_matlab5(const FileSample& sample);
bool is_netcdf(const FileSample& sample);
bool is_nrrd(const FileSample& sample);
bool is_orc(const FileSample& sample);
bool is_parquet(const FileSample& sample);
bool is_pickle(const FileSample& sample);
bool is_root(const FileSample& sample);
bool is_skippable_frame(const FileSample& sample);
bool is_tar(const FileSample& sample);
bool is_tiff(const FileSample& sample);
bool is_wave(const FileSample& sample);
bool is_xz(const FileSample& sample);
bool is_zip(const FileSample& sample);
bool is_zlib(const FileSample& sample);
bool is_zstd(const FileSample& sample);

/// Return where the raw numbers of a file begin, if the sample fits the format.
std::optional<std::uint64_t> idx_data(const FileSample& sample);
std::optional<std::uint64_t> nifti_data(const FileSample& sample);

}  // namespace ooc::detail::content
