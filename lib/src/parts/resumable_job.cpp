#include <ooc/detail/parts/resumable_job.hpp>

#include <ooc/collect.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/error.hpp>
#include <ooc/ranks.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "observe/stopwatch.hpp"
#include "parts/rank_job.hpp"
#include "parts/sections.hpp"

namespace ooc::detail {

namespace {

Stats run_rest(ResumableJob& job, Sections& sections, const PassOptions& wanted,
               const std::function<void()>& save) {
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

Stats run_in_sections(ResumableJob& job, std::span<const PassInput> inputs, std::size_t partition,
                      const PassOptions& wanted, CheckpointFile& file,
                      std::span<const PartFile* const> saved) {
  const Stopwatch watch;
  Sections sections(inputs, partition, wanted);
  if (!saved.empty()) {
    job.load(*saved.front());
    sections.go_on_after(job.covers());
  }
  const auto save = [&] {
    PartFile now = file.empty();
    job.add_to(now);
    file.save(now);
  };
  save();  // reports an error of the file before the work begins
  job.make_durable();
  sections.add_seconds(watch.seconds());
  try {
    return run_rest(job, sections, wanted, save);
  } catch (const Error& error) {
    const std::vector<std::string> kept = job.kept_files();
    if (error.kind() == ErrorKind::interrupted || kept.empty()) throw;
    throw with_kept_files(error, wanted.checkpoint, kept);
  }
}

}  // namespace

Stats run_divided(ResumableJob& job, std::span<const PassInput> inputs, std::size_t partition,
                  const PassOptions& wanted, CheckpointFile& file,
                  std::span<const PartFile* const> saved, Ranks* ranks) {
  if (ranks == nullptr) return run_in_sections(job, inputs, partition, wanted, file, saved);
  return run_among_ranks(job, inputs, partition, wanted, file, saved, *ranks);
}

Stats run_divided(ResumableJob& job, std::span<const PassInput> inputs, std::size_t partition,
                  const PassOptions& wanted, std::span<const OperatorQuestion> operators,
                  const Coordinator& coordinator, CheckpointFile* file) {
  std::optional<CheckpointFile> own;
  if (file == nullptr) file = &own.emplace(wanted.checkpoint, coordinator.ranks());
  const std::vector<const PartFile*> saved = file->begin(inputs, operators);
  return run_divided(job, inputs, partition, wanted, *file, saved, coordinator.ranks());
}

bool is_divided(const Coordinator& coordinator, const PassOptions& wanted) {
  const Ranks* const ranks = coordinator.ranks();
  return wanted.checkpoint || (ranks != nullptr && ranks->size() > 1);
}

Error with_kept_files(const Error& error, const Checkpoint& checkpoint,
                      std::span<const std::string> names) {
  ErrorDetails details = error.details();
  details.why += (details.why.empty() ? "" : "; ") + checkpoint.file.string();
  for (const std::string& name : names) details.why += " and " + name;
  details.why += " have what was made";
  return {error.kind(), error.what(), details};
}

void require_no_margin(const Margin& margin) {
  if (!margin.is_empty()) throw has_no_checkpoints("it looks at neighbours");
}

}  // namespace ooc::detail
