#pragma once

#include <array>
#include <string_view>

// The examples in the help of each command, which tests run. Only options.cpp includes this.

namespace ooc_run {

inline constexpr std::array<std::string_view, 3> histogram_examples{
    "ooc-run histogram test.f32    # made by: ooc-run gen -o test.f32 --size 1G",
    "ooc-run histogram --bins 64 --range 0:0.5 --log-scale --plot test.svg test.f32",
    "ooc-run histogram --dtype '>i2' --offset 512 --json test.f32",
};
inline constexpr std::array<std::string_view, 3> reduce_examples{
    "ooc-run reduce test.f32    # made by: ooc-run gen -o test.f32 --size 1G",
    "ooc-run reduce --nan omit --histogram 64 --range 0:1 --checksum test.f32",
    "ooc-run reduce test.f32 --axis 1 --columns 64 --statistic mean -o means.npy",
};
inline constexpr std::array<std::string_view, 3> quantile_examples{
    "ooc-run quantile test.f32    # made by: ooc-run gen -o test.f32 --size 1G",
    "ooc-run quantile --q 0.01,0.5,0.99 --method lower --tsv test.f32",
    "ooc-run quantile --nan omit --verify --plot distribution.svg test.f32",
};
inline constexpr std::array<std::string_view, 3> top_examples{
    "ooc-run top test.f32    # made by: ooc-run gen -o test.f32 --size 1G",
    "ooc-run top -k 100 --smallest --tsv test.f32",
    "ooc-run top -k 3 --verify --json test.f32 test.f32",
};
inline constexpr std::array<std::string_view, 3> distinct_examples{
    "ooc-run distinct test.f32    # made by: ooc-run gen -o test.f32 --size 1G",
    "ooc-run distinct --counts 10 --tsv test.f32",
    "ooc-run distinct --estimate --json test.f32 test.f32",
};
inline constexpr std::array<std::string_view, 3> hist2d_examples{
    "ooc-run hist2d test.f32 --columns 2    # ooc-run gen -o test.f32 --size 1G",
    "ooc-run hist2d square.npy --axes 0,7 --cells 100,50 --plot cells.svg",
    "ooc-run hist2d test.f32 test.f32 --ranges 0:0.5,0:1 --verify --json",
};
inline constexpr std::array<std::string_view, 3> merge_examples{
    "ooc-run merge 0.part 1.part    # reduce test.f32 --shard 0/2 -o 0.part, ...",
    "ooc-run merge 1.part 0.part --json",
    "ooc-run merge 0.part 1.part -o both.part",
};
inline constexpr std::array<std::string_view, 3> gram_examples{
    "ooc-run gram square.npy -o products.npy    # see convert --help",
    "ooc-run gram test.f32 --columns 64 -o products.npy --verify --force",
    "ooc-run gram square.npy -o products.npy --explain --json",
};
inline constexpr std::array<std::string_view, 3> cov_examples{
    "ooc-run cov square.npy -o covariances.npy    # see convert --help",
    "ooc-run cov test.f32 --columns 64 -o covariances.npy --verify --force",
    "ooc-run cov square.npy -o covariances.npy --explain --json",
};
inline constexpr std::array<std::string_view, 3> convert_examples{
    "ooc-run convert test.f32 -o test.f16    # test.f32: see ooc-run gen --help",
    "ooc-run convert test.f32 -o square.npy --count 1048576 --shape 1024x1024",
    "ooc-run convert square.npy -o swapped.bin --to '>f4' --strict --json",
};
inline constexpr std::array<std::string_view, 3> scan_examples{
    "ooc-run scan test.f32 -o sums.npy    # test.f32: see ooc-run gen --help",
    "ooc-run scan test.f32 -o sums.npy --exclusive --verify --force",
    "ooc-run scan test.f32 -o peaks.f32 --max --json",
};
inline constexpr std::array<std::string_view, 3> split_examples{
    "ooc-run split test.f32 -o 'part-{}.npy' --edges 0.25,0.5    # see ooc-run gen",
    "ooc-run split square.npy -o 'shard-{}.npy' --shuffle 1 --into 8    # by rows",
    "ooc-run split test.f32 -o 'bits-{}.bin' --dtype u1 --by 0 --into 256 --json",
};
inline constexpr std::array<std::string_view, 3> filter_examples{
    "ooc-run filter test.f32 -o high.f32 --above 0.9    # see ooc-run gen",
    "ooc-run filter square.npy -o rows.npy --by 3 --above 0.5    # whole rows",
    "ooc-run filter test.f32 -o places.npy --equal 0.5 --indices --verify --json",
};
inline constexpr std::array<std::string_view, 3> matmul_examples{
    "ooc-run matmul square.npy square.npy -o c.npy --verify    # see convert --help",
    "ooc-run matmul square.npy test.f32 --shape-b 1024x262144 --explain",
    "ooc-run matmul square.npy square.npy -o c.f64 --compute f64 --json",
};
inline constexpr std::array<std::string_view, 3> bench_examples{
    "ooc-run bench test.f32    # made by: ooc-run gen -o test.f32 --size 8G",
    "ooc-run bench test.f32 --device cpu --runs 9 --json",
    "ooc-run bench test.f32 --plot sweep.svg",
};
inline constexpr std::array<std::string_view, 3> info_examples{
    "ooc-run info test.f32    # made by: ooc-run gen -o test.f32 --size 1G",
    "ooc-run info --dtype f8 --offset 512 test.f32",
    "ooc-run info --json --direct no test.f32 test.f32",
};
inline constexpr std::array<std::string_view, 3> doctor_examples{
    "ooc-run doctor    # and direct I/O in this directory",
    "ooc-run doctor /data --json",
    "ooc-run doctor --device cuda    # ends with 8 if no GPU is usable",
};
inline constexpr std::array<std::string_view, 3> gen_examples{
    "ooc-run gen -o test.f32 --size 1G",
    "ooc-run gen -o normal.npy --dtype f8 --count 1M --pattern normal --seed 7",
    "ooc-run gen -o place.u64 --size 1GB --pattern position --force",
};

}  // namespace ooc_run
