#pragma once

#include <cstdint>
#include <filesystem>
#include <ooc/convert.hpp>
#include <ooc/distinct.hpp>
#include <ooc/dtype.hpp>
#include <ooc/gram.hpp>
#include <ooc/histogram.hpp>
#include <ooc/matmul.hpp>
#include <ooc/quantile.hpp>
#include <ooc/reduce.hpp>
#include <ooc/running.hpp>
#include <ooc/target.hpp>
#include <ooc/top.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "cli/arguments.hpp"
#include "dataset/generator.hpp"
#include "request/bins.hpp"
#include "request/filter.hpp"
#include "request/pairs.hpp"
#include "request/picture_style.hpp"
#include "request/run_settings.hpp"
#include "request/shard.hpp"
#include "request/split.hpp"

namespace ooc_run {

// The request of each command: the parsed values of all options and environment variables.

struct HistogramRequest {
  RunSettings run;
  ooc::HistogramOptions bins;
  PictureStyle picture{};
  std::optional<BinTable> table{};       // of the bins, instead of text
  std::optional<Shard> shard{};          // empty: all of the data
  std::optional<std::string> weights{};  // file with the weights of the values
};

/// The statistics of each column are wanted.
struct ColumnSettings {
  std::optional<std::uint64_t> columns;  // of a row; empty: those of the shape of the data
  bool table;                            // with tabs, instead of text
};

/// A result for each row is wanted.
struct RowSettings {
  ooc::Target target;  // without a type
  ooc::ReduceRowsOptions options;
  std::optional<std::uint64_t> columns;  // as ColumnSettings::columns
};

struct ReduceRequest {
  RunSettings run;
  ooc::ReduceOptions reduce;
  // Neither: of all elements.
  std::optional<ColumnSettings> by_column{};
  std::optional<RowSettings> by_row{};
  std::optional<ooc::HistogramOptions> bins;       // bins to count in as well; empty: none
  std::optional<ooc::QuantileOptions> quantile{};  // quantiles to find as well; empty: none
  PictureStyle picture{};
  std::optional<Shard> shard{};
};

struct QuantileRequest {
  RunSettings run;
  ooc::QuantileOptions quantile;
  PictureStyle picture{};
  bool has_curve = false;  // percentiles for a picture, which one of several ranks draws
  bool table = false;      // with tabs, instead of text
  std::optional<Shard> shard{};
};

struct TopRequest {
  RunSettings run;
  ooc::TopOptions top;
  bool table = false;  // with tabs, instead of text
  std::optional<Shard> shard{};
};

struct DistinctRequest {
  RunSettings run;
  ooc::DistinctOptions distinct;
  bool table = false;  // with tabs, instead of text
  std::optional<Shard> shard{};
};

struct Histogram2dRequest {
  RunSettings run;  // one file or two, or several with the columns of both axes
  PairSettings pairs;
  PictureStyle picture{};
  bool table = false;  // with tabs, instead of text
  std::optional<Shard> shard{};
};

struct MergeRequest {
  RunSettings run;               // the files are parts
  std::filesystem::path target;  // of the joined part; empty: print the result
  bool ignore_times = false;     // data may be copies with other modification times
  PictureStyle picture{};
  std::optional<BinTable> table{};  // of the bins, instead of text
};

struct ConvertRequest {
  RunSettings run;
  ooc::Target target;  // its type is the input's if `type` is empty
  std::optional<ooc::DType> type;
  ooc::ConvertOptions options;
};

struct GramRequest {
  RunSettings run;
  ooc::Target target;  // without a type and a shape
  ooc::GramOptions options;
  std::optional<std::uint64_t> columns;  // as ColumnSettings::columns
};

struct ScanRequest {
  RunSettings run;
  ooc::Target target;  // without a type
  ooc::RunningOptions options;
};

struct SplitRequest {
  RunSettings run;
  SplitSettings split;
};

struct FilterRequest {
  RunSettings run;
  FilterSettings filter;
};

struct MatmulRequest {
  using Shape = std::vector<std::uint64_t>;  // rows and columns

  RunSettings run;  // two files
  ooc::MatmulOptions options;
  std::optional<Shape> shape_a, shape_b;
  ooc::Target target;  // without a type; the path may be empty if run.explain is set
};

struct BenchRequest {
  RunSettings run;  // one file
  std::size_t rounds = 5;
  bool sweep = false;
};

struct InfoRequest {
  RunSettings run;
};

struct DoctorRequest {
  RunSettings run;  // at most one file or directory
};

struct GenRequest {
  OutputSettings output;
  ooc::Target target;
  Generator generator;
  std::uint64_t count = 0;               // elements
  std::optional<std::size_t> threads{};  // empty: all cores
  bool explain = false;
};

using Request = std::variant<HistogramRequest, ReduceRequest, QuantileRequest, TopRequest,
                             DistinctRequest, Histogram2dRequest, GramRequest, ConvertRequest,
                             ScanRequest, SplitRequest, FilterRequest, MatmulRequest, MergeRequest,
                             BenchRequest, InfoRequest, DoctorRequest, GenRequest>;

/// Parses the values of all options and refuses values that must not be combined. Opens no file.
/// Throws Error(usage).
Request read_request(const Arguments& arguments);

const OutputSettings& output_settings(const Request& request);

}  // namespace ooc_run
