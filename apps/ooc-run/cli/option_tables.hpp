#pragma once

#include <array>
#include <span>
#include <string_view>

#include "cli/options.hpp"

// The options of each command, in groups, and those that exclude or need one another. Only
// options.cpp includes this.

namespace ooc_run {

inline constexpr Option explain_option{"explain", "", "dry run: print what would be done, and why"};

inline constexpr std::array<std::string_view, 12> type_names{"u1", "u2", "u4", "u8", "i1", "i2",
                                                             "i4", "i8", "f2", "f4", "f8", "bf16"};

inline constexpr std::array input_options{
    Option{"dtype", "D", "type of raw data: u1..u8 i1..i8 f2 f4 f8 bf16", type_names},
    Option{"offset", "BYTES", "bytes to skip at the start of each raw file"},
    Option{"count", "N", "use only the first N elements of the data"},
};

inline constexpr std::array run_options{
    Option{"device", "D", "{} or cuda:N,M [auto: usable GPU]", device_names},
    Option{"memory", "SIZE", "limit for host memory (buffers)"},
    Option{"vram", "SIZE", "limit for GPU memory"},
    Option{"trace", "FILE", "timeline of every chunk, for ui.perfetto.dev"},
    Option{"report", "FILE", "HTML page about the run: .html"},
};

/// Options whose defaults rarely need a change.
inline constexpr std::array tuning_options{
    Option{"engine", "E", "I/O engine: {} [auto]", engine_names},
    Option{"direct", "WHEN", "bypass the page cache: {} [auto]", direct_names},
    Option{"chunk", "SIZE", "bytes of a chunk, such as 16M"},
    Option{"streams", "N", "number of streams that compute concurrently"},
    Option{"threads", "N", "number of CPU threads, to read and to compute"},
    Option{"io-timeout", "S", "fail if a disk does not answer for S seconds"},
};

/// Options of commands that fold a dataset and write no output file.
inline constexpr std::array fold_options{
    explain_option,
    Option{"force", "", "replace existing files"},
    Option{"checksum", "", "XXH3-128 of the data read, as xxh128sum prints it"},
    Option{"verify", "", "check the result independently; exit 10 if wrong"},
};

inline constexpr std::array output_options{
    Option{"json", "", "print one JSON document"},
    Option{"quiet", "", "no notes or progress; only errors and warnings", {}, 'q'},
    Option{"verbose", "", "print the reasons for automatic choices", {}, 'v'},
    Option{"progress", "MODE", "progress on stderr: {} [auto]", progress_names},
};

inline constexpr std::array histogram_options{
    Option{"bins", "N", "number of bins, up to 1048576 [256]"},
    Option{"edges", "A,B,C", "edges of the bins, instead of --bins and --range"},
    Option{"range", "LO:HI", "range of the bins [minimum to maximum]"},
    Option{"plot", "FILE", "also draw the histogram: {}", picture_endings},
    Option{"log-bins", "", "bins of equal width on a logarithmic scale"},
    Option{"log-scale", "", "draw the counts on a logarithmic scale"},
};

inline constexpr std::array reduce_options{
    Option{"nan", "POLICY", "treatment of NaN: {} [propagate]", nan_names},
    Option{"exact", "", "sum and mean rounded once, from their exact values"},
    Option{"histogram", "N", "also count in N bins, in the same pass"},
};

/// Options of a run that does a part of the work: that goes on where an earlier one was
/// interrupted, is shared among ranks, or answers for one of several sections of the data. Only
/// folds have the last three.
inline constexpr std::array part_options{
    Option{"resume", "FILE", "save progress here, and go on from there"},
    Option{"checkpoint-every", "TIME", "time between two saves, such as 5m [30s]"},
    Option{"rank-timeout", "S", "ooc-run-mpi: fail if a rank is silent for S s [60]"},
    Option{"shard", "I/N", "compute part I of N, counted from 0, or auto"},
    Option{"shards", "N", "their number, where --shard auto cannot know it"},
    Option{"output", "FILE", "file to write the part of a shard to", {}, 'o'},
};

inline constexpr std::array merge_options{
    Option{"output", "FILE", "write what the parts cover as one part", {}, 'o'},
    Option{"ignore-times", "", "the data were copied: times of last writes differ"},
    Option{"log-scale", "", "draw the counts on a logarithmic scale"},
    Option{"plot", "FILE", "also draw the histogram: {}", picture_endings},
    Option{"force", "", "replace existing files"},
};

inline constexpr std::array convert_options{
    Option{"output", "FILE", "file to write, links followed; .npy or raw", {}, 'o'},
    Option{"to", "D", "output type: f2, >i4 [by the ending, else kept]", type_names},
    Option{"shape", "AxBxC", "shape of a .npy output [that of the input]"},
    Option{"strict", "", "write nothing unless the conversion is lossless"},
    explain_option,
    Option{"force", "", "replace an existing file"},
};

inline constexpr std::array matmul_options{
    Option{"output", "FILE", "file for C, links followed; .npy or raw", {}, 'o'},
    Option{"shape-a", "MxK", "rows and columns of a raw A, such as 32Kx1000"},
    Option{"shape-b", "KxN", "the same for a raw B"},
    Option{"compute", "P", "precision: {} [by the input type]", compute_names},
    Option{"verify", "", "check C with random vectors; exit 10 if wrong"},
    explain_option,
    Option{"force", "", "replace an existing file"},
};

inline constexpr std::array bench_options{
    Option{"runs", "N", "number of rounds; medians are reported [5]"},
    Option{"sweep", "", "also vary chunk, bytes in flight and file size"},
    Option{"plot", "FILE", "draw the sweep: {}", picture_endings},
    explain_option,
    Option{"force", "", "replace an existing file"},
    Option{"device", "D", "{} or cuda:N,M [auto: usable GPU]", device_names},
};

inline constexpr std::array gen_options{
    Option{"output", "FILE", "file to write, links followed; .npy or raw", {}, 'o'},
    Option{"size", "SIZE", "bytes of data (or use --count)"},
    Option{"count", "N", "number of elements (or use --size)"},
    Option{"dtype", "D", "element type [by the ending; .npy: f4, else u1]", type_names},
    Option{"pattern", "P", "{}", pattern_names},
    Option{"seed", "N", "seed of the random numbers [0]"},
    Option{"value", "N", "the integer that --pattern constant repeats [1]"},
    explain_option,
    Option{"force", "", "replace an existing file"},
    Option{"threads", "N", "threads that write [all cores]"},
};

inline constexpr std::array histogram_groups{
    OptionGroup{"bins", std::span(histogram_options).first<4>()},
    OptionGroup{"scale", std::span(histogram_options).last<2>(), true},
    OptionGroup{"input", input_options},
    OptionGroup{"run", run_options},
    OptionGroup{"", fold_options},
    OptionGroup{"parts", part_options, true},
    OptionGroup{"tuning", tuning_options, true},
    OptionGroup{"output", output_options},
};
inline constexpr std::array reduce_groups{
    OptionGroup{"statistics", reduce_options},
    OptionGroup{"bins", std::span(histogram_options).last<4>(), true},
    OptionGroup{"input", input_options},
    OptionGroup{"run", run_options},
    OptionGroup{"", fold_options},
    OptionGroup{"parts", part_options, true},
    OptionGroup{"tuning", tuning_options, true},
    OptionGroup{"output", output_options},
};
inline constexpr std::array matmul_groups{
    OptionGroup{"product", matmul_options},
    OptionGroup{"input", std::span(input_options).first<2>()},  // no --count: matrices are whole
    OptionGroup{"run", run_options},
    OptionGroup{"parts", std::span(part_options).first<3>(), true},
    OptionGroup{"tuning", tuning_options, true},
    OptionGroup{"output", output_options},
};
inline constexpr std::array convert_groups{
    OptionGroup{"convert", convert_options},
    OptionGroup{"input", input_options},
    OptionGroup{"run", run_options},
    OptionGroup{"parts", std::span(part_options).first<3>(), true},
    OptionGroup{"tuning", tuning_options, true},
    OptionGroup{"output", output_options},
};
inline constexpr std::array merge_groups{
    OptionGroup{"merge", merge_options},
    OptionGroup{"output", std::span(output_options).first<3>()},
};
inline constexpr std::array bench_groups{
    OptionGroup{"measure", bench_options},
    OptionGroup{"output", output_options},
};
inline constexpr std::array info_groups{
    OptionGroup{"input", input_options},
    // The options that determine how a run reads.
    OptionGroup{"run", std::span(run_options).first<3>()},
    OptionGroup{"", std::span(tuning_options).first<5>()},
    OptionGroup{"output", std::span(output_options).first<2>()},
};
inline constexpr std::array doctor_options{
    Option{"device", "D", "required: {} or cuda:N [auto]", device_names},
};
inline constexpr std::array doctor_groups{
    OptionGroup{"expect", doctor_options},
    OptionGroup{"output", std::span(output_options).first<2>()},
};
inline constexpr std::array gen_groups{
    OptionGroup{"data", gen_options},
    OptionGroup{"output", output_options},
};

inline constexpr std::string_view whole_only = "a shard is a part: merge prints the whole result";
inline constexpr std::array histogram_exclusions{
    Exclusion{"edges", "bins", "--edges defines the bins completely"},
    Exclusion{"edges", "range", "--edges defines the bins completely"},
    Exclusion{"edges", "log-bins", "--edges defines the bins completely"},
    Exclusion{"shard", "checksum", whole_only},
    Exclusion{"shard", "verify", whole_only},
    Exclusion{"shard", "plot", whole_only},
    Exclusion{"shard", "report", whole_only},
    Exclusion{"resume", "checksum", "a checksum is of one pass, from beginning to end"},
};
inline constexpr std::span<const Exclusion> no_exclusions{};
inline constexpr std::array checkpoint_requirements{
    Requirement{"checkpoint-every", "resume"},
};
inline constexpr std::array merge_exclusions{
    Exclusion{"output", "plot", "only a whole result has a picture"},
};
inline constexpr auto reduce_exclusions = std::span(histogram_exclusions).last<5>();
inline constexpr std::array histogram_requirements{
    Requirement{"shards", "shard"},
    Requirement{"output", "shard"},
    Requirement{"checkpoint-every", "resume"},
};
inline constexpr std::array reduce_requirements{
    Requirement{"shards", "shard"},
    Requirement{"output", "shard"},
    Requirement{"range", "histogram"},
    Requirement{"log-bins", "histogram"},
    Requirement{"log-scale", "histogram"},
    Requirement{"plot", "histogram"},
    Requirement{"checkpoint-every", "resume"},
};
inline constexpr std::array gen_exclusions{
    Exclusion{"size", "count", "ooc-run gen -o FILE --size 1G"},
};
inline constexpr std::array gen_requirements{
    Requirement{"value", "pattern", "constant"},
};

}  // namespace ooc_run
