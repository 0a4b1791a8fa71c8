#include <fmt/core.h>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/sizing/typical_rates.hpp>
#include <ooc/error.hpp>
#include <ooc/matmul.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "answers/matmul_report.hpp"
#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "commands/commands.hpp"
#include "dataset/type_doubt.hpp"
#include "request/output_file.hpp"
#include "result/reasons.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

using Shape = MatmulRequest::Shape;

std::string text_of(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t length : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(length);
  }
  return text.empty() ? "a single number" : text;
}

/// Refuses raw operands without a shape, all of them at once, and streams.
void require_shapes(const ooc::Source& a, const ooc::Source& b, const MatmulRequest& request) {
  for (const ooc::Source* const matrix : {&a, &b}) {
    if (!matrix->is_produced()) continue;
    throw ooc::Error(ooc::ErrorKind::bad_input,
                     matrix->name() + ": can be read once, and a product reads it again",
                     {.hint = "decompress it"});
  }
  const bool unknown_a = a.has_format(ooc::FileFormat::raw) && !request.shape_a;
  const bool unknown_b = b.has_format(ooc::FileFormat::raw) && !request.shape_b;
  const auto name = [](const ooc::Source& matrix) { return ooc::detail::path_of(matrix).string(); };
  if (unknown_a && unknown_b) {
    refuse_usage(fmt::format("{} and {}: raw files do not know their shapes", name(a), name(b)),
                 "--shape-a ROWSxCOLUMNS --shape-b ROWSxCOLUMNS say them");
  }
  if (unknown_a || unknown_b) {
    refuse_usage(fmt::format("{}: a raw file does not know its shape", name(unknown_a ? a : b)),
                 fmt::format("--shape-{} ROWSxCOLUMNS says it", unknown_a ? "a" : "b"));
  }
}

/// Gives a raw A or B the shape that the option `option`, "shape-a" or "shape-b", has set. The
/// library checks that the shape fits the data and is that of a matrix.
void shape_matrix(ooc::Source& source, const std::optional<Shape>& asked, std::string_view option) {
  if (source.has_format(ooc::FileFormat::raw)) {
    source.set_shape(*asked);
  } else if (asked && !std::ranges::equal(*asked, source.shape())) {
    const std::filesystem::path path = ooc::detail::path_of(source);
    throw ooc::Error(ooc::ErrorKind::bad_input,
                     fmt::format("{}: is {}, not the {} of --{}", path.string(),
                                 text_of(source.shape()), text_of(*asked), option),
                     {.path = path, .hint = "leave the option out: the file knows its shape"});
  }
}

/// Returns the task for the choice of the device. Assumes that the operands are read from the disk
/// once and are then in memory.
Task product_task(const ooc::Source& a, const ooc::Source& b) {
  using ooc::detail::typical::core_flops;
  Task task = passes_over(a, 1, core_flops);
  const Task over_b = passes_over(b, 1, core_flops);
  const Workload& of_b = over_b.work;
  task.is_remote = task.is_remote || over_b.is_remote;
  task.only_gpus = true;
  Workload& work = task.work;
  work.from_disk += of_b.from_disk;
  work.from_page_cache += of_b.from_page_cache;
  work.decoded += of_b.decoded;
  work.to_device += of_b.to_device;
  work.through_kernel += of_b.through_kernel;
  work.read_ahead = 0;  // matmul starts the GPU before it reads
  if (work.through_kernel == 0 || a.shape().size() != 2 || b.shape().size() != 2) return task;
  const double flops = 2 * static_cast<double>(a.shape()[0]) * static_cast<double>(a.shape()[1]) *
                       static_cast<double>(b.shape()[1]);
  if (flops > 0) task.core_rate = work.through_kernel / flops * core_flops;
  return task;
}

bool is_remote(const ooc::MatmulPlan& plan) {
  return std::ranges::count(plan.reasons, ooc::ReasonKind::remote_reads, &ooc::Reason::what) != 0;
}

/// Returns the workload of a product according to its plan.
Workload work_of(const ooc::MatmulPlan& plan) {
  const auto read = static_cast<double>(plan.bytes_read);
  const double cached = plan.direct ? 0 : plan.page_cache_fraction.value_or(0);
  return {.from_server = is_remote(plan),
          .from_disk = read * (1 - cached),
          .from_page_cache = read * cached,
          .to_device = static_cast<double>(plan.link_bytes - plan.bytes_written),
          .through_kernel = read,
          .to_output = static_cast<double>(plan.bytes_written),
          .kernel_seconds = plan.multiplying_seconds};
}

/// Returns the devices that the user or the precision requires: tf32 and bf16 need the tensor cores
/// of a GPU. Empty if any device will do. Throws Error(device) if a GPU is required and none is
/// usable.
std::vector<DeviceName> devices_for(const MatmulRequest& request) {
  const ooc::Precision precision = request.options.precision.value_or(ooc::Precision::f32);
  const bool on_tensor_cores =
      precision == ooc::Precision::tf32 || precision == ooc::Precision::bf16;
  if (!on_tensor_cores || !request.run.devices.empty()) return request.run.devices;
  const std::string why_not = ooc::why_no_gpu();
  if (!why_not.empty()) {
    throw ooc::Error(ooc::ErrorKind::device, "tensor cores need a GPU: " + why_not,
                     {.hint = "--compute f32 computes on the CPU"});
  }
  return {{ooc::DeviceKind::cuda}};
}

/// Returns the output of --explain.
Outcome explain_product(const MatmulRequest& request, const ooc::Target& target, Session& session,
                        const ooc::Source& a, const ooc::Source& b, const Json& input) {
  const std::filesystem::path& path = target.path;
  const ooc::MatmulPlan plan =
      ooc::dry_run_matmul(session.coordinator(), a, b, request.options,
                          path.empty() ? std::nullopt : std::optional(target));
  const auto prediction = session.predict(work_of(plan));
  const std::string_view unknown = is_remote(plan) ? "a server" : session.sharers();
  std::vector<std::string> reasons = sentences_of(plan.reasons);
  const std::string& why_device = session.device().reason;
  if (!why_device.empty()) reasons.insert(reasons.begin(), why_device);
  Json result = describe_plan(plan, prediction, path);
  result["plan"]["reasons"] = reasons;
  std::vector<FactRow> facts = try_side_files(request.run.side_files);
  std::ranges::move(checkpoint_row(request.run.checkpoint), std::back_inserter(facts));
  if (!path.empty()) facts.insert(facts.begin(), {"output", printable(path.string())});
  std::ranges::move(plan_rows(plan, names_of(session.device()), explain(prediction, unknown)),
                    std::back_inserter(facts));
  std::vector<std::string> warnings;
  for (const ooc::Source* operand : {&a, &b}) {
    std::string doubt = type_doubt(*operand, request.run.format);
    if (!doubt.empty()) warnings.push_back(std::move(doubt));
  }
  reasons.insert(reasons.begin(), warnings.begin(), warnings.end());
  return explain("matmul", request.run.output, input, result, product_heading(a, b),
                 std::move(facts), reasons, warnings);
}

}  // namespace

Outcome run(const MatmulRequest& request, const Interrupt& interrupt) {
  RunSettings settings = request.run;
  const std::span<const std::string> files = settings.files;
  ooc::Source a = open_numbers(files.first(1), settings);
  ooc::Source b = open_numbers(files.last(1), settings);
  require_shapes(a, b, request);
  shape_matrix(a, request.shape_a, "shape-a");
  shape_matrix(b, request.shape_b, "shape-b");
  ooc::Target target = request.target;
  const ooc::ElementType made = ooc::product_type(a, request.options);
  target.type = made;
  require_ending(target.path, made, "the product is");
  settings.devices = devices_for(request);
  if (settings.explain)
    settings.side_files = {};  // explain_product() tests them; the session must not create them
  Session session(settings, interrupt, product_task(a, b), settings.verify ? 1 : 0);
  Report report{.command = "matmul",
                .input = {{"a", describe_input(a, settings.format)},
                          {"b", describe_input(b, settings.format)}},
                .writes = true};
  if (settings.explain) return explain_product(request, target, session, a, b, report.input);

  for (const ooc::Source* operand : {&a, &b}) {
    session.warn(type_doubt(*operand, settings.format));
  }
  auto [product, stats] =
      ooc::matmul(session.coordinator(), a, b, target, request.options, session.pass());
  ooc::Verification verification;
  const Verified verified =
      session.verify_file("matmul", target.path, stats, [&, &plan = product.plan] {
        ooc::Source c = ooc::open(target.path, {.type = target.type});
        c.set_shape({plan.rows, plan.columns});
        verification =
            ooc::verify_matmul(session.coordinator(), a, b, c, plan.precision, 8, session.pass());
      });
  std::optional<ProductCheck> check;
  if (verified.seconds) check = {verification, *verified.seconds};
  report.heading = product_heading(a, b);
  report.work = work_of(product.plan);
  const auto prediction = session.predict(*report.work);
  report.result = describe_product(product, prediction, check, target.path);
  report.text = explain_product(product, prediction, stats.timing.seconds, check, target.path);
  Outcome outcome = session.report(report, stats);
  outcome.written = printable(target.path.string());
  if (check && !verification.passed) {
    outcome.fail(verification_error(target.path, verification));
  }
  if (verified.why_not) outcome.fail(*verified.why_not);
  return outcome;
}

}  // namespace ooc_run
