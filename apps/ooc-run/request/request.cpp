#include "request/request.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/failure.hpp"
#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "request/bins.hpp"
#include "request/conflicts.hpp"
#include "request/output_file.hpp"

namespace ooc_run {
namespace {

ooc::NanPolicy parse_nan(std::string_view text) {
  constexpr std::array policies{ooc::NanPolicy::propagate, ooc::NanPolicy::omit};
  return choose(nan_names, policies, text);
}

ooc::Precision parse_precision(std::string_view text) {
  constexpr std::array precisions{ooc::Precision::f32, ooc::Precision::tf32, ooc::Precision::bf16,
                                  ooc::Precision::f64};
  return choose(compute_names, precisions, text);
}

Pattern parse_pattern(std::string_view text) {
  constexpr std::array patterns{Pattern::uniform,  Pattern::normal, Pattern::sequence,
                                Pattern::constant, Pattern::zipf,   Pattern::position};
  return choose(pattern_names, patterns, text);
}

MatmulRequest::Shape parse_matrix_shape(std::string_view text) {
  const MatmulRequest::Shape shape = parse_shape(text);
  if (shape.size() != 2) {
    refuse_usage("a matrix has rows and columns", "such as 1000x2000 or 64Kx3");
  }
  return shape;
}

std::string parse_weights(const std::string& text) {
  if (text.empty()) refuse_usage("names no file");
  return text;
}

/// Throws Error(usage) for what a histogram with weights cannot be of.
void refuse_with_weights(const HistogramRequest& request) {
  if (request.run.files.size() != 1) {
    refuse_usage(fmt::format("--weights is for one file, not for {}", request.run.files.size()),
                 "each value of FILE has a weight in the file of --weights");
  }
  const bool by_rule = request.bins.edges.empty() && request.bins.bins.rule();
  if (by_rule) {
    throw ooc::Error(ooc::ErrorKind::usage, "--bins by a rule and --weights exclude each other",
                     {.why = "a rule says how many bins show the counts of values",
                      .hint = "give their number: --bins 100"});
  }
}

HistogramRequest read_histogram(const Arguments& arguments) {
  HistogramRequest request{.run = read_run_settings(arguments),
                           .bins = read_bins(arguments, "bins"),
                           .picture = read_picture_style(arguments),
                           .table = read_table(arguments),
                           .shard = read_shard(arguments),
                           .weights = arguments.get("weights", parse_weights)};
  if (request.weights) refuse_with_weights(request);
  request.run.format.by_columns = true;  // counts do not depend on the order of elements
  return request;
}

double parse_q(std::string_view text) {
  const double q = parse_real(text);
  if (q >= 0 && q <= 1) return q;
  refuse_usage(fmt::format("{} is not between 0 and 1", text),
               "0 is the minimum, 0.5 the median, 0.99 is larger than 99 % of the values");
}

std::vector<double> parse_quantiles(std::string_view text) {
  std::vector<double> quantiles = parse_list(text, parse_q);
  if (quantiles.size() <= ooc::max_quantiles) return quantiles;
  refuse_usage(fmt::format("{} quantiles", quantiles.size()),
               fmt::format("at most {} are found at once", ooc::max_quantiles));
}

ooc::QuantileMethod parse_method(std::string_view text) {
  return static_cast<ooc::QuantileMethod>(index_among(quantile_method_names, text));
}

ooc::QuantileOptions read_quantiles(const Arguments& arguments) {
  ooc::QuantileOptions options;
  options.q = arguments.get("q", parse_quantiles).value_or(options.q);
  options.method = arguments.get("method", parse_method).value_or(options.method);
  options.nan = arguments.get("nan", parse_nan).value_or(options.nan);
  return options;
}

std::size_t parse_axis(std::string_view text) {
  return index_among(axis_names, text);
}

ooc::RowValue parse_row_value(std::string_view text) {
  return static_cast<ooc::RowValue>(index_among(row_value_names, text));
}

RowSettings read_rows(const Arguments& arguments, ooc::NanPolicy nan) {
  RowSettings rows{.target = {}, .options = {.nan = nan}, .columns = {}};
  rows.options.value = arguments.get("statistic", parse_row_value).value_or(rows.options.value);
  rows.columns = arguments.get("columns", positive_count);
  rows.target.path = read_output_path(arguments, "ooc-run reduce IN --axis 1 -o OUT", 1);
  rows.target.replace = arguments.has("force");
  return rows;
}

ReduceRequest read_reduce(const Arguments& arguments) {
  ReduceRequest request{.run = read_run_settings(arguments), .reduce = {}, .bins = {}};
  request.reduce.nan = arguments.get("nan", parse_nan).value_or(request.reduce.nan);
  request.reduce.exact = arguments.has("exact");
  if (arguments.has("histogram")) request.bins = read_bins(arguments, "histogram");
  if (arguments.has("q")) request.quantile = read_quantiles(arguments);
  const std::optional<std::size_t> axis = arguments.get("axis", parse_axis);
  if (axis == 0) {
    request.by_column = {.columns = arguments.get("columns", positive_count),
                         .table = arguments.has("tsv")};
  } else if (axis == 1) {
    for (const char* const other : {"shard", "checksum", "plot"}) {
      if (!arguments.has_word(other)) continue;
      refuse_usage(fmt::format("--axis 1 and --{} exclude each other", other),
                   "it writes a result for each row to a file, in one run");
    }
    request.run.checksum = false;  // variables of the environment may be meant for other runs
    request.run.side_files.plot.reset();
    request.by_row = read_rows(arguments, request.reduce.nan);
  }
  if (axis != 1 && arguments.has_word("output") && !arguments.has("shard")) {
    refuse_usage("-o is for a shard or for --axis 1", "the statistics are printed");
  }
  request.picture = read_picture_style(arguments);
  if (!request.by_row) request.shard = read_shard(arguments);
  // Indices of rows, and in rows, count by rows.
  request.run.format.by_columns = !request.by_column && !request.by_row;
  return request;
}

QuantileRequest read_quantile(const Arguments& arguments) {
  QuantileRequest request{.run = read_run_settings(arguments),
                          .quantile = read_quantiles(arguments),
                          .picture = read_picture_style(arguments),
                          .has_curve = arguments.has("plot"),
                          .table = arguments.has("tsv"),
                          .shard = read_shard(arguments)};
  request.run.format.by_columns = true;  // quantiles do not depend on the order of elements
  return request;
}

std::uint64_t parse_k(std::string_view text) {
  const std::uint64_t k = positive_count(text);
  if (k <= ooc::max_top) return k;
  refuse_usage(fmt::format("{} values", k), fmt::format("at most {} are found", ooc::max_top));
}

TopRequest read_top(const Arguments& arguments) {
  TopRequest request{.run = read_run_settings(arguments),
                     .top = {},
                     .table = arguments.has("tsv"),
                     .shard = read_shard(arguments)};
  request.top.k = arguments.get("k", parse_k).value_or(request.top.k);
  request.top.smallest = arguments.has("smallest");
  return request;
}

std::uint64_t parse_counts(std::string_view text) {
  const std::uint64_t counts = positive_count(text);
  if (counts <= ooc::max_distinct_counts) return counts;
  refuse_usage(fmt::format("the counts of {} values", counts),
               fmt::format("at most {} are found", ooc::max_distinct_counts));
}

DistinctRequest read_distinct(const Arguments& arguments) {
  DistinctRequest request{.run = read_run_settings(arguments),
                          .distinct = {},
                          .table = arguments.has("tsv"),
                          .shard = read_shard(arguments)};
  request.distinct.counts = arguments.get("counts", parse_counts).value_or(0);
  request.distinct.estimate = arguments.has("estimate");
  request.run.format.by_columns = true;  // counts do not depend on the order of elements
  return request;
}

Histogram2dRequest read_histogram_2d(const Arguments& arguments) {
  Histogram2dRequest request{.run = read_run_settings(arguments),
                             .pairs = read_pairs(arguments),
                             .picture = read_picture_style(arguments),
                             .table = arguments.has("tsv"),
                             .shard = read_shard(arguments)};
  const bool are_columns = arguments.has("axes");
  if (request.run.files.size() > 2 && !are_columns) {
    refuse_usage(
        fmt::format("pairs are in one file or in two, not in {}", request.run.files.size()),
        "--axes names the columns of several files of rows");
  }
  // Elements of two files are pairs in any order that both have.
  request.run.format.by_columns = !are_columns && request.run.files.size() == 2;
  return request;
}

MergeRequest read_merge(const Arguments& arguments) {
  return {.run = read_run_settings(arguments),
          .target = arguments.get("output", parse_output).value_or(""),
          .ignore_times = arguments.has("ignore-times"),
          .picture = read_picture_style(arguments),
          .table = read_table(arguments)};
}

ConvertRequest read_convert(const Arguments& arguments) {
  ConvertRequest request{
      .run = read_run_settings(arguments), .target = {}, .type = {}, .options = {}};
  request.target.path = read_output_path(arguments, "ooc-run convert IN -o OUT --to f2", 1);
  request.target.shape = arguments.get("shape", parse_shape).value_or(request.target.shape);
  request.target.replace = arguments.has("force");
  request.type = read_output_type(arguments, "to", request.target.path);
  request.options.strict = arguments.has("strict");
  request.options.clip = arguments.has("clip");
  return request;
}

GramRequest read_gram(const Arguments& arguments) {
  GramRequest request{.run = read_run_settings(arguments),
                      .target = {},
                      .options = {.covariance = arguments.command() == "cov"},
                      .columns = arguments.get("columns", positive_count)};
  request.target.path =
      read_output_path(arguments, fmt::format("ooc-run {} IN -o OUT", arguments.command()), 1);
  request.target.replace = arguments.has("force");
  return request;
}

ScanRequest read_scan(const Arguments& arguments) {
  ScanRequest request{.run = read_run_settings(arguments), .target = {}, .options = {}};
  request.target.path = read_output_path(arguments, "ooc-run scan IN -o OUT", 1);
  request.target.replace = arguments.has("force");
  if (arguments.has("min")) request.options.value = ooc::RunningValue::minimum;
  if (arguments.has("max")) request.options.value = ooc::RunningValue::maximum;
  request.options.exclusive = arguments.has("exclusive");
  return request;
}

MatmulRequest read_matmul(const Arguments& arguments) {
  constexpr const char* example = "ooc-run matmul A B -o C";
  MatmulRequest request{.run = read_run_settings(arguments),
                        .options = {},
                        .shape_a = arguments.get("shape-a", parse_matrix_shape),
                        .shape_b = arguments.get("shape-b", parse_matrix_shape),
                        .target = {}};
  request.options.precision = arguments.get("compute", parse_precision);
  request.target.replace = arguments.has("force");
  if (arguments.has("output") || !request.run.explain) {
    request.target.path = read_output_path(arguments, example, 2);
  }
  if (request.run.files.size() != 2) {
    refuse_usage(fmt::format("a product has two factors, not {}", request.run.files.size()),
                 example);
  }
  return request;
}

BenchRequest read_bench(const Arguments& arguments) {
  BenchRequest request{.run = read_run_settings(arguments)};
  if (request.run.files.size() != 1) {
    refuse_usage(fmt::format("one file is measured, not {}", request.run.files.size()),
                 "ooc-run bench FILE");
  }
  request.rounds = arguments.get("runs", positive_count).value_or(request.rounds);
  request.sweep =
      arguments.has("sweep") || request.run.side_files.plot;  // the plot is of the sweep
  return request;
}

/// Returns the number of elements, from --size or --count.
std::uint64_t read_count(const Arguments& arguments, ooc::DType type) {
  const std::optional<std::uint64_t> size = arguments.get("size", parse_bytes);
  const std::optional<std::uint64_t> count = arguments.get("count", parse_count);
  if (!size && !count) {
    refuse_usage("how much? Neither --size nor --count", "ooc-run gen -o FILE --size 1G");
  }
  const std::size_t element_bytes = ooc::size_of(type.element);
  if (size && *size % element_bytes != 0) {
    refuse_usage(
        fmt::format("--size {}: not a whole number of elements of {} bytes", *size, element_bytes),
        "--count gives the number of elements");
  }
  return count ? *count : *size / element_bytes;  // TargetFile refuses a count that is too large
}

GenRequest read_gen(const Arguments& arguments) {
  GenRequest request{.output = read_output_settings(arguments), .target = {}, .generator = {}};
  ooc::Target& target = request.target;
  target.path = read_output_path(arguments, "ooc-run gen -o FILE --size 1G", 0);
  target.replace = arguments.has("force");
  const ooc::DType otherwise{target.is_npy() ? ooc::ElementType::f4 : ooc::ElementType::u1};
  Generator& generator = request.generator;
  generator.type = read_output_type(arguments, "dtype", target.path).value_or(otherwise);
  target.type = generator.type;
  generator.pattern = arguments.get("pattern", parse_pattern).value_or(Pattern::uniform);
  generator.seed = arguments.get("seed", parse_count).value_or(0);
  generator.value = arguments.get("value", parse_integer).value_or(generator.value);
  request.count = read_count(arguments, generator.type);
  request.threads = arguments.get("threads", worker_count);
  request.explain = arguments.has("explain");
  return request;
}

Request parse(const Arguments& arguments) {
  const std::string_view command = arguments.command();
  if (command == "histogram") return read_histogram(arguments);
  if (command == "reduce") return read_reduce(arguments);
  if (command == "quantile") return read_quantile(arguments);
  if (command == "top") return read_top(arguments);
  if (command == "distinct") return read_distinct(arguments);
  if (command == "hist2d") return read_histogram_2d(arguments);
  if (command == "merge") return read_merge(arguments);
  if (command == "convert") return read_convert(arguments);
  if (command == "gram" || command == "cov") return read_gram(arguments);
  if (command == "scan") return read_scan(arguments);
  if (command == "split") {
    return SplitRequest{read_run_settings(arguments), read_split_settings(arguments)};
  }
  if (command == "filter") {
    return FilterRequest{read_run_settings(arguments), read_filter_settings(arguments)};
  }
  if (command == "matmul") return read_matmul(arguments);
  if (command == "bench") return read_bench(arguments);
  if (command == "info") return InfoRequest{read_run_settings(arguments)};
  if (command == "doctor") return DoctorRequest{read_run_settings(arguments)};
  return read_gen(arguments);
}

}  // namespace

Request read_request(const Arguments& arguments) {
  Request request = parse(arguments);
  refuse_conflicts(request);
  return request;
}

const OutputSettings& output_settings(const Request& request) {
  return std::visit(
      []<class T>(const T& each) -> const OutputSettings& {
        if constexpr (std::is_same_v<T, GenRequest>) {
          return each.output;
        } else {
          return each.run.output;
        }
      },
      request);
}

}  // namespace ooc_run
