#pragma once

#include <ooc/distinct.hpp>
#include <ooc/histogram.hpp>
#include <ooc/quantile.hpp>
#include <ooc/top.hpp>
#include <optional>
#include <vector>

#include "parts/parts.hpp"

namespace ooc_run {

/// The answers of all parts together.
struct Merged {
  std::optional<ooc::PartialResult<ooc::ChosenBins>> bins{};
  std::optional<ooc::PartialResult<ooc::Statistics>> statistics{};
  std::optional<ooc::PartialResult<std::vector<ooc::Statistics>>> columns{};
  std::optional<ooc::PartialResult<ooc::Histogram>> histogram{};
  std::optional<ooc::PartialResult<ooc::QuantileCounts>> quantile{};
  std::optional<ooc::PartialResult<ooc::Top>> top{};
  std::optional<ooc::PartialResult<ooc::Distinct>> distinct{};
};

/// Merges the answers of all parts. Throws ooc::Error.
Merged merge(const Parts& all);

}  // namespace ooc_run
