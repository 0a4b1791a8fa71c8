#include <ooc/detail/operators/resumable_job.hpp>

#include "operators/sections.hpp"

#include "observe/stopwatch.hpp"

namespace ooc::detail {

Stats run_in_sections(ResumableJob& job, std::span<const PassInput> inputs, std::size_t partition,
                      const PassOptions& wanted, CheckpointFile& file, const PartFile* saved) {
  const Stopwatch watch;
  Sections sections(inputs, partition, wanted);
  if (saved != nullptr) {
    job.load(*saved);
    sections.go_on_after(job.covers());
  }
  const auto save = [&] {
    PartFile now = file.empty();
    job.add_to(now);
    file.save(now);
  };
  save();  // an error about the file is to come before the work
  job.make_durable();
  sections.add_seconds(watch.seconds());
  for (;;) {
    sections.add(job.run(sections.next(job.covers()), sections.options()));
    const bool is_done = sections.is_done(job.covers());
    const bool is_stopped = wanted.stop.stop_requested();
    if (is_done || is_stopped || sections.is_due()) {
      sections.save([&] { job.make_durable(); }, save);
    }
    if (is_done) return sections.stats();
    if (is_stopped) throw sections.interrupted(job.kept_files());
  }
}

void require_no_margin(const Margin& margin) {
  if (!margin.is_empty()) throw has_no_checkpoints("it looks at neighbours");
}

}  // namespace ooc::detail
