#pragma once

/// Rates of a server with a fast NVMe disk and an H200 (bytes per second unless they say
/// otherwise). They serve choices that are made before anything has been measured, for which they
/// are good enough; bench/results/ has the measurements.
namespace ooc::detail::typical {

inline constexpr double disk = 3e9;                 // direct I/O, either way
inline constexpr double link = 50e9;                // of a GPU, each way
inline constexpr double core_copies = 3.7e9;        // from the page cache, of a core while all copy
inline constexpr double core_decodes = 1e9;         // of zstd, decoded
inline constexpr double gpu_page_cache = 55e9;      // from the page cache to a GPU, all cores
inline constexpr double all_gpu_page_cache = 80e9;  // the same, to several GPUs together
inline constexpr double page_cache = 10e9;    // from the page cache, beside cores that multiply
inline constexpr double cached_writes = 6e9;  // to the page cache
inline constexpr double host_copy = 8e9;      // within host memory
inline constexpr double core_flops = 60e9;    // per second: f4, OpenBLAS with AVX-512, of a core
inline constexpr double cpu_flops = 100e9;    // per second: of a CPU, where it is not measured
inline constexpr double gpu_flops = 50e12;    // per second
inline constexpr double gpu_start_seconds = 0.3;  // start and shutdown

}  // namespace ooc::detail::typical
