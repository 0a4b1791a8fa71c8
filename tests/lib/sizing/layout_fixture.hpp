#pragma once

#include <ooc/detail/sizing/facts.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "sizing/layout.hpp"

namespace ooc::detail::test {

/// Chooses layouts from facts that no disk was asked for.
class LayoutTest : public testing::Test {
 protected:
  /// A file that allows direct reads and is not in the page cache.
  static SourceFacts on_disk(std::uint64_t bytes, std::uint64_t offset = 0) {
    return {.inputs = {{StorageMap({{0, offset, bytes}})}}, .cached = 0};
  }

  /// The requirements of an operation on one input.
  static StepNeeds needs_of(std::size_t bytes, bool in_order = false) {
    StepNeeds needs;
    needs.inputs = {bytes};
    needs.in_order = in_order;
    return needs;
  }

  Layout layout_for(const Options& options, DeviceKind device, const SourceFacts& source,
                    const StepNeeds& needs, const std::optional<OutputFacts>& output = {}) const {
    return layout_for(options, device, workers_, source, needs, output);
  }
  static Layout layout_for(const Options& options, DeviceKind device, const Workers& workers,
                           const SourceFacts& source, const StepNeeds& needs,
                           const std::optional<OutputFacts>& output = {}) {
    Wishes wishes;
    wishes.options = options;
    wishes.workers = workers;
    wishes.needs = needs;
    Facts facts{.device = facts_of(device), .source = source};
    if (output) facts.outputs.push_back(*output);
    return choose_layout(facts, wishes);
  }

  Workers workers_{.lanes = 2, .reading_lanes = 6, .readers = 4, .writers = 2, .decoders = 6};
};

}  // namespace ooc::detail::test
