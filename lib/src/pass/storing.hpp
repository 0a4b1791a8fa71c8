#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/transfer/writer.hpp>

#include <optional>
#include <span>

#include "pass/appender.hpp"
#include "sizing/layout.hpp"

namespace ooc::detail {

/// Stores the results of a pass: a writer thread takes computed chunks from the pool to the files.
class Storing {
 public:
  /// `appends`: a result follows the one before, so its place is not known before the pass. All
  /// references must outlive this object.
  Storing(const Options& options, const PassOptions& wanted, const Layout& layout,
          std::span<const Output> outputs, bool appends, ChunkPool& pool);

  Writer& writer() noexcept { return writer_; }

  /// Returns what gives results their places; null if these are known before the pass.
  Appender* appender() noexcept { return appender_ ? &*appender_ : nullptr; }

  /// Adds to `stats` how the results were written and how long that took.
  void describe(Stats& stats) const;

 private:
  TransferReporter reporter_;
  std::optional<Appender> appender_;
  Writer writer_;
};

}  // namespace ooc::detail
