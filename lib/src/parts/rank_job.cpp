#include "parts/rank_job.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/detail/parts/part_file.hpp>
#include <ooc/detail/ranks/together.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <utility>

#include "observe/stopwatch.hpp"
#include "parts/sections.hpp"
#include "ranks/conversation.hpp"
#include "ranks/rank_blocks.hpp"
#include "ranks/rank_share.hpp"

namespace ooc::detail {

namespace {

std::uint64_t count_of(std::span<const RecordRange> ranges) {
  std::uint64_t count = 0;
  for (const RecordRange& range : ranges) count += range.count;
  return count;
}

/// True if all records of `some` are among `all`, both in their order.
bool are_among(std::span<const RecordRange> some, std::span<const RecordRange> all) {
  return std::ranges::all_of(some, [&](const RecordRange& range) {
    return std::ranges::any_of(all, [&](const RecordRange& whole) {
      return whole.first <= range.first && range.end() <= whole.end();
    });
  });
}

/// The share of one rank in a job.
class RankJob {
 public:
  RankJob(ResumableJob& job, std::span<const PassInput> inputs, std::size_t partition,
          const PassOptions& wanted, CheckpointFile& file, Ranks& ranks)
      : job_(job),
        inputs_(inputs),
        partition_(partition),
        wanted_(wanted),
        file_(file),
        talk_(conversation_of(ranks)),
        all_{records_before(inputs.front()), records_of(inputs.front())},
        share_{.rank = talk_.rank(), .host = talk_.host()} {}

  Stats run(std::span<const PartFile* const> saved);

 private:
  void load(std::span<const PartFile* const> saved);
  std::vector<RecordRange> left() const;
  void run_passes(RankBlocks& blocks);
  void run_fragments(std::span<const RecordRange> fragments);
  void add(const Stats& pass, double began);
  PassOptions options_of_passes() const;
  PassOptions options_of_pass(RankBlocks& blocks);
  void save(const std::function<void()>& attend);
  std::vector<std::byte> packed() const;
  void take(const std::vector<std::byte>& findings);
  void merge_up();
  void spread_down();
  void finish_stats();
  Error interrupted() const;

  ResumableJob& job_;
  std::span<const PassInput> inputs_;
  std::size_t partition_;
  const PassOptions& wanted_;
  CheckpointFile& file_;
  Conversation& talk_;
  RecordRange all_;
  RankShare share_;
  std::vector<RankShare> shares_{};  // of the ranks whose findings are merged here
  Stopwatch watch_{};
  Stopwatch since_save_{};
  Stats stats_{};
  bool has_run_ = false;
  std::uint64_t resumed_bytes_ = 0, shown_bytes_ = 0;
  std::vector<std::string> remarks_{};  // of the ranks whose findings are merged here
};

/// Takes the findings of an earlier run. If it was killed between two of its saves, one file may
/// have those of another.
void RankJob::load(std::span<const PartFile* const> saved) {
  std::vector<const PartFile*> files(saved.begin(), saved.end());
  std::ranges::stable_sort(files, std::greater{},
                           [](const PartFile* file) { return count_of(file->covers); });
  for (const PartFile* const file : files) {
    if (!are_among(file->covers, job_.covers())) job_.load(*file);
  }
  for (const RecordRange& range : job_.covers()) {
    if (range.first >= all_.first && range.end() <= all_.end()) continue;
    throw Error(ErrorKind::bad_input, "a saved partial result covers records that are not there");
  }
  resumed_bytes_ = count_of(job_.covers()) * stored_bytes_of(inputs_);
}

/// Returns the records that are not done, counted from the first of the inputs.
std::vector<RecordRange> RankJob::left() const {
  std::vector<RecordRange> left;
  std::uint64_t next = all_.first;
  for (const RecordRange& range : job_.covers()) {
    if (next < range.first) left.push_back({next - all_.first, range.first - next});
    next = range.end();
  }
  if (next < all_.end()) left.push_back({next - all_.first, all_.end() - next});
  return left;
}

/// Returns the options of all passes of the job.
PassOptions RankJob::options_of_passes() const {
  PassOptions options = wanted_;
  options.keep_partial = true;
  options.checkpoint = {};
  return options;
}

PassOptions RankJob::options_of_pass(RankBlocks& blocks) {
  PassOptions options = options_of_passes();
  options.progress = [this, before = share_.bytes, &blocks](Progress progress) {
    const double every = wanted_.checkpoint.every_seconds;
    if (file_.is_wanted() && since_save_.seconds() >= every) blocks.pause();
    talk_.set_progress(before + progress.bytes);
    if (!wanted_.progress) return;
    // A pass that was ended early has read more than it has processed. The rest is read again.
    shown_bytes_ = std::max(shown_bytes_, talk_.progress() + resumed_bytes_);
    progress.bytes = shown_bytes_;
    progress.resumed_bytes = resumed_bytes_;
    progress.total_bytes = all_.count * stored_bytes_of(inputs_);
    progress.seconds = watch_.seconds();
    wanted_.progress(progress);
  };
  return options;
}

/// Adds the statistics of a pass. `began`: seconds from the beginning of the job to its own.
void RankJob::add(const Stats& pass, double began) {
  const std::uint64_t records = stats_.outcome.records + pass.outcome.records;
  const std::uint64_t bytes = stats_.outcome.bytes + pass.outcome.bytes;
  share_.bytes += pass.outcome.bytes;
  share_.bytes_written += pass.outcome.bytes_written;
  for (const DeviceShare& device : pass.devices) {
    const double first = began + device.start_seconds, last = first + device.busy_seconds;
    if (share_.busy_seconds == 0) share_.start_seconds = first;
    share_.busy_seconds = std::max(share_.busy_seconds, last - share_.start_seconds);
  }
  if (share_.device.empty() || pass.outcome.records != 0) share_.device = pass.layout.device;
  if (has_run_) {
    stats_ += pass;
  } else {
    stats_ = pass;
  }
  has_run_ = true;
  stats_.outcome.records = records;
  stats_.outcome.bytes = bytes;
  stats_.outcome.passes = 1;
}

/// Saves what was found, while `attend` lets the others go on.
void RankJob::save(const std::function<void()>& attend) {
  const Stopwatch watch;
  PartFile now = file_.empty();
  job_.add_to(now);
  work_beside(attend, [&] {
    job_.make_durable();
    try {
      file_.save(std::move(now));
      ++stats_.outcome.checkpoints;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::output) throw;
      add_unsaved_remark(error, stats_);
    }
  });
  stats_.timing.checkpoint_seconds += watch.seconds();
  since_save_ = Stopwatch();
}

void RankJob::run_passes(RankBlocks& blocks) {
  const auto attend = [&blocks] { blocks.attend(); };
  do {
    blocks.go_on();
    const double began = watch_.seconds();
    add(job_.run(inputs_, options_of_pass(blocks), &blocks), began);
    if (file_.is_wanted()) save(attend);
    blocks.attend();
  } while (!blocks.has_ended());
  share_.wait_seconds = blocks.seconds_waiting();
}

/// Runs the records that do not fill a block, on rank 0. Each range takes no longer than a block,
/// and is not interrupted.
void RankJob::run_fragments(std::span<const RecordRange> fragments) {
  PassOptions options = options_of_passes();
  options.progress = {};
  options.stop = {};
  for (const RecordRange& range : fragments) {
    if (wanted_.stop.stop_requested()) break;
    const InputSections section(inputs_, {all_.first + range.first, range.count});
    const double began = watch_.seconds();
    add(job_.run(section.inputs(), options), began);
    talk_.attend();
  }
  if (file_.is_wanted() && !fragments.empty()) save([this] { talk_.attend(); });
}

/// Returns the findings of this rank and the ranks below, with their shares and remarks.
std::vector<std::byte> RankJob::packed() const {
  std::vector<std::byte> out;
  PartFile found = file_.empty();
  job_.add_to(found);
  const std::vector<std::byte> bytes = bytes_of(found);
  append_bytes(out, std::uint64_t{bytes.size()});
  append_span(out, bytes);
  append_bytes(out, std::uint64_t{shares_.size()});
  for (const RankShare& share : shares_) save_share(out, share);
  append_bytes(out, std::uint64_t{remarks_.size()});
  for (const std::string& remark : remarks_) append_text(out, remark);
  return out;
}

/// Adds the findings of another rank.
void RankJob::take(const std::vector<std::byte>& findings) {
  ByteReader in(findings);
  job_.load(part_file_in(in.take_bytes(in.take<std::uint64_t>()), "a message of a rank"));
  constexpr std::size_t least_bytes = 8 * sizeof(std::uint64_t);
  for (std::size_t count = in.take_count(least_bytes); count != 0; --count) {
    shares_.push_back(take_share(in));
  }
  for (std::size_t count = in.take_count(sizeof(std::uint64_t)); count != 0; --count) {
    remarks_.push_back(take_text(in));
  }
}

// A binomial tree: rank r receives from r + 1, r + 2, r + 4 ... below its lowest bit, then sends to
// r without that bit.

/// Merges what the ranks below have found, and sends it up.
void RankJob::merge_up() {
  const std::size_t rank = talk_.rank();
  for (std::size_t bit = 1; bit < talk_.size(); bit *= 2) {
    if ((rank & bit) != 0) return talk_.say(rank - bit, Word::part, packed());
    if (rank + bit < talk_.size()) take(talk_.await(Word::part, rank + bit).bytes);
  }
}

/// Sends the findings of all ranks down.
void RankJob::spread_down() {
  const std::size_t rank = talk_.rank();
  std::size_t bit = rank & (~rank + 1);
  std::vector<std::byte> total;
  if (rank == 0) {
    bit = std::bit_ceil(talk_.size());
    total = packed();
  } else {
    total = talk_.await(Word::total, rank - bit).bytes;
    job_.clear();
    shares_.clear();
    remarks_.clear();
    take(total);
  }
  for (bit /= 2; bit != 0; bit /= 2) {
    if (rank + bit < talk_.size()) talk_.say(rank + bit, Word::total, total);
  }
}

/// Sets the statistics of all ranks together.
void RankJob::finish_stats() {
  stats_.timing.seconds = watch_.seconds();
  stats_.outcome.records = count_of(job_.covers());
  stats_.outcome.bytes = stats_.outcome.records * stored_bytes_of(inputs_);
  stats_.outcome.resumed_bytes = stats_.outcome.bytes;
  stats_.outcome.bytes_written = 0;
  for (const RankShare& share : shares_) {
    stats_.outcome.resumed_bytes -= share.bytes;
    stats_.outcome.bytes_written += share.bytes_written;
  }
  stats_.outcome.remarks = remarks_;
  stats_.outcome.partial = stats_.outcome.records != all_.count;
  stats_.outcome.covers.clear();
  stats_.layout.in_order = false;
  stats_.ranks = shares_;
  if (stats_.layout.device.empty()) {  // nothing was left for this rank
    const auto worked =
        std::ranges::find_if(shares_, [](const RankShare& share) { return !share.device.empty(); });
    if (worked != shares_.end()) stats_.layout.device = worked->device;
  }
  if (stats_.devices.size() == 1) stats_.devices.clear();
}

Error RankJob::interrupted() const {
  if (!file_.is_wanted()) return {ErrorKind::interrupted, "interrupted"};
  const double part =
      static_cast<double>(count_of(job_.covers())) / static_cast<double>(all_.count);
  return {ErrorKind::interrupted,
          "interrupted; " + wanted_.checkpoint.file.string() + " has what was found in " +
              std::to_string(static_cast<int>(100 * part)) + " % of the data",
          {.path = wanted_.checkpoint.file, .hint = "the same job goes on from there"}};
}

Stats RankJob::run(std::span<const PartFile* const> saved) {
  load(saved);
  if (file_.is_wanted()) {
    // Rank 0 has the findings of all files, which are removed before other ranks write new ones.
    save([this] { talk_.attend(); });
    if (!stats_.outcome.remarks.empty()) {
      throw Error(ErrorKind::output, stats_.outcome.remarks.front());
    }
    file_.remove_others();
  }
  file_.start_others();
  watch_ = Stopwatch();
  if (all_.count == 0) {
    PassOptions options = wanted_;
    options.checkpoint = {};
    add(job_.run(inputs_, options), 0);
    stats_.outcome.partial = false;
    return stats_;
  }
  RankBlocks blocks(talk_, talk_.rank() == 0 ? left() : std::vector<RecordRange>{},
                    stored_bytes_of(inputs_), partition_, wanted_.stop);
  run_passes(blocks);
  if (talk_.rank() == 0) run_fragments(blocks.fragments());
  if (talk_.rank() != 0) {
    work_beside([this] { talk_.attend(); }, [this] { job_.make_durable(); });
  }
  shares_.push_back(share_);
  for (const std::string& remark : stats_.outcome.remarks) {
    remarks_.push_back(talk_.rank() == 0 ? remark : talk_.name_of(talk_.rank()) + ": " + remark);
  }
  merge_up();
  if (talk_.rank() == 0) complete(shares_);
  spread_down();
  finish_stats();
  if (stats_.outcome.partial && (file_.is_wanted() || !wanted_.keep_partial)) throw interrupted();
  return stats_;
}

}  // namespace

Stats run_among_ranks(ResumableJob& job, std::span<const PassInput> inputs, std::size_t partition,
                      const PassOptions& wanted, CheckpointFile& file,
                      std::span<const PartFile* const> saved, Ranks& ranks) {
  return RankJob(job, inputs, partition, wanted, file, ranks).run(saved);
}

}  // namespace ooc::detail
