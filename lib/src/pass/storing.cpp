#include "pass/storing.hpp"

#include <vector>

#include "sizing/dry_run_pass.hpp"

namespace ooc::detail {

namespace {

std::vector<OutputFile*> files_of(std::span<const Output> outputs) {
  std::vector<OutputFile*> files;
  for (const Output& output : outputs) files.push_back(&output.file);
  return files;
}

}  // namespace

Storing::Storing(const Options& options, const PassOptions& wanted, const Layout& layout,
                 std::span<const Output> outputs, bool appends, ChunkPool& pool)
    : reporter_(TraceEvent::Kind::write, pool.size(), wanted.observe, layout.slots),
      appender_(appends
                    ? std::optional<Appender>(std::in_place, outputs, layout.plan, pool.window())
                    : std::nullopt),
      writer_(files_of(outputs),
              appender_ ? static_cast<const Plan&>(*appender_) : layout.writes->plan, pool,
              make_engine(options, layout.writes->config, pool, layout.most_slots),
              layout.writes->config.block_bytes, layout.writes->config.direct) {
  writer_.set_observer(reporter_);
}

void Storing::describe(Stats& stats) const {
  describe_notes(writer_.engine(), stats);
  stats.timing.write.busy = writer_.seconds_busy();
  stats.timing.write.waits_in = writer_.seconds_waiting();
  stats.outcome.bytes_written = writer_.bytes_done();
}

}  // namespace ooc::detail
