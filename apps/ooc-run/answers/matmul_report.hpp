#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <ooc/error.hpp>
#include <ooc/matmul.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/fact_table.hpp"
#include "rates/prediction.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// The check of a product, and its duration.
struct ProductCheck {
  ooc::Verification verification;
  double seconds = 0;
};

// The `result` object: of a plan, with the planned figures, or of a product. `path` is that of the
// output; for a plan it may be empty.
Json describe_plan(const ooc::MatmulPlan& plan, const std::optional<Prediction>& prediction,
                   const std::filesystem::path& path);
Json describe_product(const ooc::MatrixProduct& product,
                      const std::optional<Prediction>& prediction,
                      const std::optional<ProductCheck>& check, const std::filesystem::path& path);

// The same as text: rows of facts, or whole lines.

std::vector<FactRow> plan_rows(const ooc::MatmulPlan& plan, const std::string& device,
                               const std::string& predicted);
std::string explain_product(const ooc::MatrixProduct& product,
                            const std::optional<Prediction>& prediction, double seconds,
                            const std::optional<ProductCheck>& check,
                            const std::filesystem::path& path);

/// Returns "a.f32: 1,000 x 2,000 of float32 (from .f32)" and a second line for b. Both must be
/// matrices.
std::string product_heading(const ooc::Source& a, const ooc::Source& b);

/// Returns the error for a product that failed its check.
ooc::Error verification_error(const std::filesystem::path& path,
                              const ooc::Verification& verification);

}  // namespace ooc_run
