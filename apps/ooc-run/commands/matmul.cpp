#include <fmt/core.h>
#include <ooc/io/error.hpp>
#include <ooc/kernels/matmul.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "cli/failure.hpp"
#include "cli/output_file_options.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "commands/commands.hpp"
#include "commands/matmul_report.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

using Shape = std::vector<std::uint64_t>;

constexpr const char* example = "ooc-run matmul A B -o C";

/// What a user wants.
struct MatmulJob {
  RunSettings settings;
  ooc::MatmulOptions options;
  std::optional<Shape> shape_a, shape_b;
  ooc::Target target;  // without a type
  bool explain = false;
  bool verify = false;
};

ooc::Precision parse_compute(std::string_view text) {
  constexpr std::array precisions{ooc::Precision::f32, ooc::Precision::tf32, ooc::Precision::bf16,
                                  ooc::Precision::f64};
  return choose(compute_names, precisions, text);
}

Shape parse_matrix_shape(std::string_view text) {
  const Shape shape = parse_shape(text);
  if (shape.size() != 2)
    refuse_usage("a matrix has rows and columns", "such as 1000x2000 or 64Kx3");
  return shape;
}

std::string text_of(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t length : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(length);
  }
  return text.empty() ? "a single number" : text;
}

MatmulJob read_job(const Arguments& arguments) {
  MatmulJob job;
  job.settings = read_run_settings(arguments);
  job.options.precision = arguments.get("compute", parse_compute);
  job.shape_a = arguments.get("shape-a", parse_matrix_shape);
  job.shape_b = arguments.get("shape-b", parse_matrix_shape);
  job.explain = arguments.has("explain");
  job.verify = arguments.has("verify");
  job.target.replace = arguments.has("force");
  const bool named = arguments.has("output");
  if (named || !job.explain) job.target.path = read_output_path(arguments, example, 2);
  if (arguments.files().size() != 2) {
    refuse_usage(fmt::format("a product has two factors, not {}", arguments.files().size()),
                 example);
  }
  return job;
}

/// Refuses raw operands without a shape, all of them at once.
void require_shapes(const ooc::Source& a, const ooc::Source& b, const MatmulJob& job) {
  const bool unknown_a = a.format == "raw" && !job.shape_a;
  const bool unknown_b = b.format == "raw" && !job.shape_b;
  const auto name = [](const ooc::Source& matrix) {
    return matrix.files().front().path().string();
  };
  if (unknown_a && unknown_b) {
    refuse_usage(fmt::format("{} and {}: raw files do not know their shapes", name(a), name(b)),
                 "--shape-a ROWSxCOLUMNS --shape-b ROWSxCOLUMNS say them");
  }
  if (unknown_a || unknown_b) {
    refuse_usage(fmt::format("{}: a raw file does not know its shape", name(unknown_a ? a : b)),
                 fmt::format("--shape-{} ROWSxCOLUMNS says it", unknown_a ? "a" : "b"));
  }
}

/// Gives A or B the shape that `option` says if it is raw: --shape-a or --shape-b. Whether that is
/// the shape of the data, and of a matrix, is for the library to say.
void shape_matrix(ooc::Source& source, const std::optional<Shape>& asked, std::string_view option) {
  if (source.format == "raw") {
    source.set_shape(*asked);
  } else if (asked && !std::ranges::equal(*asked, source.shape())) {
    const std::filesystem::path& path = source.files().front().path();
    throw ooc::Error(ooc::ErrorKind::bad_input,
                     fmt::format("{}: is {}, not the {} of --{}", path.string(),
                                 text_of(source.shape()), text_of(*asked), option),
                     {.path = path, .hint = "leave the option out: the file knows its shape"});
  }
}

/// To choose the device by: the operands are read once, or lie in memory afterwards.
Task product_task(const ooc::Source& a, const ooc::Source& b) {
  constexpr double core_flops = 60e9;  // f4, OpenBLAS with AVX-512
  Task task = passes_over(a, 1, core_flops);
  const Workload of_b = passes_over(b, 1, core_flops).work;
  Workload& work = task.work;
  work.from_disk += of_b.from_disk;
  work.from_page_cache += of_b.from_page_cache;
  work.to_device += of_b.to_device;
  work.through_kernel += of_b.through_kernel;
  work.read_ahead = 0;  // it starts the GPU first
  if (work.through_kernel == 0 || a.shape().size() != 2 || b.shape().size() != 2) return task;
  const double flops = 2 * static_cast<double>(a.shape()[0]) * static_cast<double>(a.shape()[1]) *
                       static_cast<double>(b.shape()[1]);
  if (flops > 0) task.core_rate = work.through_kernel / flops * core_flops;
  return task;
}

/// What the product takes by its plan.
Workload work_of(const ooc::MatmulPlan& plan) {
  const auto read = static_cast<double>(plan.bytes_read);
  const double cached = plan.direct ? 0 : plan.page_cache_fraction.value_or(0);
  return {.from_disk = read * (1 - cached),
          .from_page_cache = read * cached,
          .to_device = static_cast<double>(plan.link_bytes - plan.bytes_written),
          .through_kernel = read,
          .to_output = static_cast<double>(plan.bytes_written),
          .kernel_seconds = plan.multiplying_seconds};
}

/// Takes a GPU for what only tensor cores compute.
void require_tensor_cores(MatmulJob& job) {
  const ooc::Precision precision = job.options.precision.value_or(ooc::Precision::f32);
  const bool wanted = precision == ooc::Precision::tf32 || precision == ooc::Precision::bf16;
  if (!wanted || job.settings.device) return;
  const std::string why_not = ooc::why_no_gpu();
  if (!why_not.empty()) {
    throw ooc::Error(ooc::ErrorKind::device, "tensor cores are a GPU's: " + why_not,
                     {.hint = "--compute f32 computes on the CPU"});
  }
  job.settings.device = ooc::DeviceKind::cuda;
}

/// What --explain prints.
Outcome explain_job(const MatmulJob& job, const Arguments& arguments, Session& session,
                    const ooc::Source& a, const ooc::Source& b, const Json& input) {
  const std::filesystem::path& path = job.target.path;
  const ooc::MatmulPlan plan =
      ooc::dry_run_matmul(session.coordinator(), a, b, job.options,
                          path.empty() ? std::nullopt : std::optional(job.target));
  const auto prediction = session.predict(work_of(plan));
  std::vector<std::string> reasons = plan.reasons;
  const std::string& why_device = session.device().reason;
  if (!why_device.empty()) reasons.insert(reasons.begin(), why_device);
  Json result = describe_plan(plan, prediction, path);
  result["plan"]["reasons"] = reasons;
  std::vector<FactRow> facts = try_side_files(arguments);
  if (!path.empty()) facts.insert(facts.begin(), {"output", printable(path.string())});
  std::ranges::move(plan_rows(plan, session.coordinator().device().name(), prediction),
                    std::back_inserter(facts));
  std::vector<std::string> warnings;
  for (const ooc::Source* operand : {&a, &b}) {
    std::string doubt = type_doubt(*operand, job.settings.format);
    if (!doubt.empty()) warnings.push_back(std::move(doubt));
  }
  reasons.insert(reasons.begin(), warnings.begin(), warnings.end());
  return explain("matmul", job.settings.output, input, result, product_heading(a, b),
                 std::move(facts), reasons, warnings);
}

/// Reads the three files once more. The product is in its place by now, and stays there.
ooc::Verification check_product(Session& session, const ooc::Source& a, const ooc::Source& b,
                                const ooc::Target& target, const ooc::MatmulPlan& plan) {
  try {
    ooc::Source c = ooc::open(target.path, {.type = target.type});
    c.set_shape({plan.rows, plan.columns});
    return ooc::verify_matmul(session.coordinator(), a, b, c, plan.precision, 8, session.pass());
  } catch (const ooc::Error& error) {
    throw with_hint(error, printable(target.path.string()) + " was written, but is not verified");
  }
}

}  // namespace

Outcome run_matmul(const Arguments& arguments, const Interrupt& interrupt) {
  MatmulJob job = read_job(arguments);
  ooc::Source a = open_numbers(arguments.files().first(1), job.settings);
  ooc::Source b = open_numbers(arguments.files().last(1), job.settings);
  require_shapes(a, b, job);
  shape_matrix(a, job.shape_a, "shape-a");
  shape_matrix(b, job.shape_b, "shape-b");
  job.target.type = {ooc::product_type(a, job.options)};
  require_ending(job.target.path, job.target.type.element, "the product is");
  require_tensor_cores(job);
  if (job.explain) {  // the files of --trace and --report are tried, not begun
    job.settings.trace.reset();
    job.settings.report.reset();
  }
  Session session(job.settings, interrupt, product_task(a, b), job.verify ? 1 : 0);
  Report report{.command = "matmul",
                .input = {{"a", describe_input(a, job.settings.format)},
                          {"b", describe_input(b, job.settings.format)}},
                .writes = true};
  if (job.explain) return explain_job(job, arguments, session, a, b, report.input);

  for (const ooc::Source* operand : {&a, &b}) {
    session.warn(type_doubt(*operand, job.settings.format));
  }
  auto [product, stats] =
      ooc::matmul(session.coordinator(), a, b, job.target, job.options, session.pass());
  ooc::Verification verification;
  const Verified verified = session.verify(arguments, stats, [&, &plan = product.plan] {
    verification = check_product(session, a, b, job.target, plan);
  });
  std::optional<ProductCheck> check;
  if (verified.seconds) check = {verification, *verified.seconds};
  report.heading = product_heading(a, b);
  report.work = work_of(product.plan);
  const auto prediction = session.predict(*report.work);
  report.result = describe_product(product, prediction, check, job.target.path);
  report.text = explain_product(product, prediction, stats.seconds, check, job.target.path);
  Outcome outcome = session.report(report, stats);
  outcome.written = printable(job.target.path.string());
  if (check && !verification.passed) {
    outcome.fail(verification_error(job.target.path, verification));
  }
  if (verified.why_not) outcome.fail(*verified.why_not);
  return outcome;
}

}  // namespace ooc_run
