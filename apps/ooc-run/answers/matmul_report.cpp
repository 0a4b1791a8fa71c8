#include "answers/matmul_report.hpp"

#include <fmt/core.h>
#include <ooc/detail/dataset/source_access.hpp>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "result/reasons.hpp"

namespace ooc_run {
namespace {

std::string grouped(std::uint64_t count) {
  return group_digits(std::to_string(count));
}

std::string describe_shape(std::uint64_t rows, std::uint64_t columns) {
  return fmt::format("{} x {}", grouped(rows), grouped(columns));
}

std::string line(std::string_view name, const std::string& value) {
  return fmt::format("  {:<9} {}\n", name, value);
}

std::string describe_work(double flops, double seconds) {
  std::string text = format_flops(flops);
  if (seconds > 0) text += fmt::format(", {}/s", format_flops(flops / seconds));
  return text;
}

std::string describe_passes(std::uint64_t passes) {
  return passes <= 1 ? "" : fmt::format(" in {} passes", passes);
}

std::string describe_traffic(const ooc::MatrixProduct& product) {
  std::string text =
      line("read", format_bytes(product.bytes_read) + describe_passes(product.plan.passes));
  if (product.library.starts_with("cuBLAS")) {
    text += line("copied", format_bytes(product.link_bytes) + " to the device and back");
  }
  return text + line("written", format_bytes(product.bytes_written));
}

/// True if no row of the product could be checked.
bool is_unknown(const ooc::Verification& verification, std::uint64_t rows) {
  return verification.passed && rows != 0 && verification.unchecked_rows == rows;
}

std::string describe_check(const ProductCheck& check, std::uint64_t rows) {
  const ooc::Verification& verification = check.verification;
  std::string text = fmt::format("{}: {}, at most {:.2g} of what rounding explains, {}",
                                 !verification.passed             ? "NO"
                                 : is_unknown(verification, rows) ? "no row could be"
                                                                  : "yes",
                                 format_count(verification.vectors, "random vector"),
                                 verification.largest_ratio, format_seconds(check.seconds));
  if (verification.unchecked_rows != 0) {
    text += fmt::format("; {} unchecked: NaN, infinity or overflow",
                        format_count(verification.unchecked_rows, "row"));
  }
  return line("verified", text);
}

}  // namespace

Json describe_plan(const ooc::MatmulPlan& plan, const std::optional<Prediction>& prediction,
                   const std::filesystem::path& path) {
  return {{"rows", plan.rows},
          {"columns", plan.columns},
          {"inner", plan.inner},
          {"dtype", ooc::code_of(plan.type)},
          {"compute", ooc::name_of(plan.precision)},
          {"path", path.empty() ? Json(nullptr) : Json(path.string())},
          {"passes", plan.passes},
          {"bytes_read", plan.bytes_read},
          {"bytes_written", plan.bytes_written},
          {"link_bytes", plan.link_bytes},
          {"flops", json_integer(static_cast<ooc::int128>(plan.flops))},
          {"resident", plan.resident},
          {"library", nullptr},
          {"verified", nullptr},
          {"unchecked_rows", nullptr},
          {"plan",
           {{"row_blocks", plan.row_blocks},
            {"column_blocks", plan.column_blocks},
            {"tile_rows", plan.tile_rows},
            {"tile_columns", plan.tile_columns},
            {"tile_inner", plan.tile_inner},
            {"device_bytes", plan.device_bytes},
            {"cache_bytes", plan.cache_bytes},
            {"link_bytes", plan.link_bytes},
            {"bytes_read", plan.bytes_read},
            {"bytes_written", plan.bytes_written},
            {"prediction", describe(prediction)},
            {"reasons", sentences_of(plan.reasons)}}}};
}

Json describe_product(const ooc::MatrixProduct& product,
                      const std::optional<Prediction>& prediction,
                      const std::optional<ProductCheck>& check, const std::filesystem::path& path) {
  Json json = describe_plan(product.plan, prediction, path);
  json["bytes_read"] = product.bytes_read;
  json["bytes_written"] = product.bytes_written;
  json["link_bytes"] = product.link_bytes;
  json["library"] = product.library;
  if (check) {
    const ooc::Verification& verification = check->verification;
    json["verified"] =
        is_unknown(verification, product.plan.rows) ? Json(nullptr) : Json(verification.passed);
    json["unchecked_rows"] = verification.unchecked_rows;
  }
  return json;
}

std::vector<FactRow> plan_rows(const ooc::MatmulPlan& plan, const std::string& device,
                               const std::string& predicted) {
  const std::string tiles =
      fmt::format("A {}, B {}, C {}", describe_shape(plan.tile_rows, plan.tile_inner),
                  describe_shape(plan.tile_inner, plan.tile_columns),
                  describe_shape(plan.tile_rows, plan.tile_columns));
  std::string c =
      fmt::format("{} of {}", describe_shape(plan.rows, plan.columns), describe_type(plan.type));
  if (plan.row_blocks * plan.column_blocks > 1) {
    c += fmt::format(", in {} blocks", describe_shape(plan.row_blocks, plan.column_blocks));
  }
  std::vector<FactRow> rows{
      {"C", c},
      {"device", device},
      {"compute", std::string(ooc::name_of(plan.precision))},
      {"resident", plan.resident},
      {"tiles", tiles},
      {"memory", format_bytes(plan.device_bytes) + " on the device"},
      {"cache", format_bytes(plan.cache_bytes) + " of host memory"},
      {"reads", format_bytes(plan.bytes_read) + describe_passes(plan.passes)}};
  if (device != "cpu") {
    rows.push_back({"copies", format_bytes(plan.link_bytes) + " to the device and back"});
  }
  rows.push_back({"writes", format_bytes(plan.bytes_written)});
  rows.push_back({"work", describe_work(plan.flops, plan.multiplying_seconds.value_or(0))});
  rows.push_back({"predicted", predicted});
  return rows;
}

std::string explain_product(const ooc::MatrixProduct& product,
                            const std::optional<Prediction>& prediction, double seconds,
                            const std::optional<ProductCheck>& check,
                            const std::filesystem::path& path) {
  const ooc::MatmulPlan& plan = product.plan;
  std::string text =
      fmt::format("wrote {}: {} of {}\n\n", printable(path.string()),
                  describe_shape(plan.rows, plan.columns), describe_type(plan.type)) +
      line("compute", fmt::format("{}, {}", ooc::name_of(plan.precision), product.library)) +
      line("resident", plan.resident) + describe_traffic(product) +
      line("work", describe_work(plan.flops, seconds)) + line("predicted", brief(prediction));
  if (check) text += describe_check(*check, plan.rows);
  return text;
}

std::string product_heading(const ooc::Source& a, const ooc::Source& b) {
  const auto heading = [](const ooc::Source& matrix) {
    return fmt::format("{}: {} of {} ({})", printable(ooc::detail::path_of(matrix).string()),
                       describe_shape(matrix.shape()[0], matrix.shape()[1]),
                       describe_type(matrix.type().value_or(ooc::DType{})), matrix.type_reason);
  };
  return heading(a) + "\n" + heading(b);
}

ooc::Error verification_error(const std::filesystem::path& path,
                              const ooc::Verification& verification) {
  const std::string problem = std::isinf(verification.largest_ratio)
                                  ? "has NaN or infinity where none belongs, or lacks one"
                                  : fmt::format("differs by {:.3g} times what rounding explains",
                                                verification.largest_ratio);
  return {ooc::ErrorKind::verify,
          path.string() + ": is not the product of the two matrices",
          {.path = path,
           .why = fmt::format("row {} {}", grouped(verification.worst_row), problem),
           .hint = "the file is kept, so that it can be looked at; do not use it"}};
}

}  // namespace ooc_run
