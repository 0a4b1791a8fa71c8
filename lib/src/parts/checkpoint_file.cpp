#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "parts/checkpoint_json.hpp"
#include "ranks/conversation.hpp"

namespace ooc::detail {

namespace {

constexpr std::string_view rank_beginning = "rank-", rank_ending = ".part";

/// Returns the files of the ranks in a directory, by their names.
std::vector<std::filesystem::path> rank_files(const std::filesystem::path& directory) {
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    const std::string name = entry.path().filename().string();
    const bool is_rank = name.starts_with(rank_beginning) && name.ends_with(rank_ending);
    if (is_rank) files.push_back(entry.path());
  }
  if (failed) throw Error::from_errno(ErrorKind::input, "readdir", failed.value(), directory);
  std::ranges::sort(files);
  return files;
}

}  // namespace

CheckpointFile::CheckpointFile(const Checkpoint& wanted, Ranks* ranks)
    : path_(wanted.file), ranks_(ranks) {
  if (std::isnan(wanted.every_seconds)) {
    throw Error(ErrorKind::usage, "Checkpoint::every_seconds is not a number");
  }
  if (path_.empty()) return;
  if (ranks_ == nullptr) {
    read(path_);
    is_new_ = saved_.empty();
    return;
  }
  if (ranks_->is_first()) read_directory(path_);
  is_new_ = ranks_->is_first() && others_.empty();
  path_ /= std::string(rank_beginning) + std::to_string(ranks_->rank()) + std::string(rank_ending);
  share_kept();
}

/// Reads a file if it is there.
void CheckpointFile::read(const std::filesystem::path& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (status.type() == std::filesystem::file_type::not_found) return;
  if (failed) throw Error::from_errno(ErrorKind::input, "stat", failed.value(), path);
  locks_.emplace_back(path);
  try {
    saved_.push_back({path, read_part_file(path)});
  } catch (const Error& error) {
    if (error.details().errno_value == ENOENT) return;  // its run has ended, and removed it
    throw Error(error.kind(), error.what(),
                {.path = path,
                 .why = "it is to be the file of a checkpoint: " + error.details().why,
                 .hint = begin_anew});
  }
}

/// Makes the directory unless it is there, and reads the files of all ranks of an earlier run.
void CheckpointFile::read_directory(const std::filesystem::path& directory) {
  std::error_code failed;
  std::filesystem::create_directory(directory, failed);
  if (failed) {
    throw Error(ErrorKind::output,
                directory.string() + ": is no directory, and cannot be made: " + failed.message(),
                {.path = directory,
                 .errno_value = failed.value(),
                 .why = "each rank has a file of its own for its checkpoint"});
  }
  others_ = rank_files(directory);
  for (const std::filesystem::path& path : others_) read(path);
  // The files of a pass that is complete are of no more use.
  std::size_t most = 0;
  for (const Saved& saved : saved_) most = std::max(most, saved.file.earlier.size());
  std::erase_if(saved_, [&](const Saved& saved) { return saved.file.earlier.size() < most; });
}

/// Sends the findings of complete passes to all ranks.
void CheckpointFile::share_kept() {
  Conversation& talk = conversation_of(*ranks_);
  talk.begin_job();
  if (ranks_->is_first()) {
    std::vector<std::byte> all;
    for (const std::vector<std::byte>& found : kept()) {
      append_bytes(all, std::uint64_t{found.size()});
      append_span(all, found);
    }
    talk.say_to_others(Word::total, all);
    return;
  }
  const std::vector<std::byte> all = talk.await(Word::total, 0).bytes;
  if (all.empty()) return;
  saved_.push_back({path_, {}});
  for (ByteReader bytes(all); bytes.left() != 0;) {
    const auto found = bytes.take_bytes(bytes.take<std::uint64_t>());
    saved_.back().file.earlier.emplace_back(found.begin(), found.end());
  }
}

void CheckpointFile::keep(std::vector<std::byte> found) {
  pass_.earlier.push_back(std::move(found));
}

void CheckpointFile::set_outputs(std::vector<SavedOutput> outputs) {
  outputs_ = std::move(outputs);
  set_about();
}

void CheckpointFile::set_about() {
  Json about = Json::object();
  for (const SavedOutput& output : outputs_) about["outputs"].push_back(json_of(output));
  pass_.about = about.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::span<const std::vector<std::byte>> CheckpointFile::kept() const {
  if (saved_.empty()) return {};
  return saved_.front().file.earlier;
}

/// True if a file has data of this pass. A file with outputs has, even without findings, because
/// its kept outputs would otherwise remain.
bool CheckpointFile::is_about_this_pass(const Saved& saved) const {
  return !saved.file.covers.empty() || !saved.file.earlier.empty() || has_outputs(saved.file);
}

/// Throws Error unless a file belongs to this job and to its data.
void CheckpointFile::require_this_job(const Saved& saved) const {
  const auto& [path, file] = saved;
  const bool has_other_size =
      !std::ranges::equal(file.input, pass_.input, {}, &FileIdentity::bytes, &FileIdentity::bytes);
  require_same_job(path, file, pass_.question, has_other_size);
  if (const std::string why = difference_of_data(file, pass_); !why.empty()) {
    throw Error(ErrorKind::input_changed,
                path.string() + ": is of the data as they were before they changed",
                {.path = path, .why = why, .hint = hint_for(file)});
  }
}

std::vector<const PartFile*> CheckpointFile::begin(std::span<const PassInput> inputs,
                                                   std::span<const OperatorQuestion> operators,
                                                   std::span<const Target> targets) {
  constexpr auto replace = Json::error_handler_t::replace;  // of bytes that are not UTF-8
  pass_ = {.question = question_of(inputs, operators, targets).dump(-1, ' ', true, replace),
           .earlier = std::move(pass_.earlier)};
  outputs_.clear();
  for (const Target& target : targets) outputs_.push_back({{new_kept_name(target.path)}, {}});
  set_about();
  for (const PassInput& input : inputs) {
    if (ranks_ != nullptr && (input.source.is_produced() || input.resident != nullptr)) {
      throw needs_one_rank(input.source.is_produced() ? "its input can be read once"
                                                      : "its input stays on a device");
    }
    if (input.source.is_produced()) {
      throw Error(ErrorKind::usage, input.source.name() + ": has no checkpoint",
                  {.why = "a producer makes the data once, from beginning to end",
                   .remedies = {{RemedyAction::unset, "PassOptions::checkpoint"}}});
    }
    if (input.resident != nullptr) {
      throw Error(ErrorKind::usage, "data that stay on the device have no checkpoint",
                  {.why = "they are gone when the job ends"});
    }
    for (FileIdentity& file : identity_of(input.source)) pass_.input.push_back(std::move(file));
  }
  if (ranks_ != nullptr) begin_with_ranks(targets);
  if (ranks_ != nullptr && !ranks_->is_first()) return {};
  std::erase_if(saved_, [this](const Saved& saved) { return !is_about_this_pass(saved); });
  std::vector<const PartFile*> found;
  for (const Saved& saved : saved_) {
    pass_.records = saved.file.records;  // those of the question
    require_this_job(saved);
    found.push_back(&saved.file);
  }
  if (targets.empty() || found.empty()) return found;
  set_outputs(agreed_outputs(targets));
  return found;
}

/// Returns the outputs that all files have. The file of a rank without findings may have been saved
/// before the outputs existed.
std::vector<SavedOutput> CheckpointFile::agreed_outputs(std::span<const Target> targets) const {
  std::vector<SavedOutput> agreed = outputs_in(saved_.front().file, targets);
  for (SavedOutput& output : agreed) output.file.bytes = 0;
  for (const Saved& saved : saved_) {
    const std::vector<SavedOutput> own = outputs_in(saved.file, targets);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i].file.name != agreed[i].file.name) {
        throw Error(
            ErrorKind::bad_input,
            saved.path.string() + ": is of another run than " + saved_.front().path.string(),
            {.path = saved.path, .hint = hint_for(saved.file)});
      }
      if (own[i].whole) agreed[i].whole = own[i].whole;
      if (saved.file.covers.empty()) continue;
      agreed[i].file.bytes = std::max(agreed[i].file.bytes, own[i].file.bytes);
    }
  }
  return agreed;
}

/// Compares the data of all ranks, as rank 0; others wait until they may begin.
void CheckpointFile::begin_with_ranks(std::span<const Target> targets) {
  Conversation& talk = conversation_of(*ranks_);
  talk.begin_job();
  if (!ranks_->is_first()) {
    talk.say(0, Word::begin, described_pass(pass_));
    const PartFile first = pass_in(talk.await(Word::start, 0).bytes);
    // The data of this rank may be a copy, with other times.
    pass_.input = first.input;
    pass_.about = first.about;
    if (!targets.empty()) outputs_ = outputs_in(pass_, targets);
    return;
  }
  for (std::size_t rank = 1; rank < talk.size(); ++rank) {
    const PartFile other = pass_in(talk.await(Word::begin, rank).bytes);
    if (const std::string why = difference_of_data(pass_, other, true); !why.empty()) {
      throw Error(ErrorKind::input_changed, talk.name_of(rank) + " has other data than rank 0",
                  {.why = why, .hint = "put them where all machines see the same files"});
    }
    if (Json::parse(other.question) != Json::parse(pass_.question)) {
      throw Error(ErrorKind::usage, talk.name_of(rank) + " runs another job than rank 0",
                  {.why = "all ranks make the same calls, with the same operators and data"});
    }
  }
}

void CheckpointFile::start_others() {
  if (ranks_ == nullptr || !ranks_->is_first()) return;
  conversation_of(*ranks_).say_to_others(Word::start, described_pass(pass_));
}

PartFile CheckpointFile::empty() const {
  return pass_;
}

void CheckpointFile::save(PartFile found) {
  found.about = pass_.about;
  try {
    lock_ = write_locked(path_, found, !is_new_);
    is_new_ = false;
  } catch (const Error& error) {
    if (!is_new_ || error.details().errno_value != EEXIST) throw;
    throw Error(ErrorKind::usage, path_.string() + ": another run is using it",
                {.path = path_,
                 .why = "it was made after this run had begun",
                 .hint = "give this run a file of its own"});
  }
}

void CheckpointFile::save_whole(PartFile found, std::vector<SavedOutput> outputs, Stats& stats) {
  set_outputs(std::move(outputs));
  try {
    save(std::move(found));
  } catch (const Error& error) {
    // If there are several outputs, only some might be in place, and no later run could resume.
    if (error.kind() != ErrorKind::output || outputs_.size() > 1) throw;
    stats.outcome.remarks.push_back(std::string("that the output is whole could not be saved: ") +
                                    error.what());
  }
}

void CheckpointFile::remove_others() const noexcept {
  std::error_code failed;
  for (const std::filesystem::path& path : others_) {
    if (path != path_) std::filesystem::remove(path, failed);
  }
}

void CheckpointFile::end() {
  saved_.clear();
}

void add_unsaved_remark(const Error& error, Stats& stats) {
  const std::string remark =
      std::string("what was found could not be saved, once or more: ") + error.what();
  auto& remarks = stats.outcome.remarks;
  if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(remark);
}

Error has_no_checkpoints(std::string why) {
  return {ErrorKind::usage,
          "the findings of this operator cannot be saved",
          {.why = std::move(why), .remedies = {{RemedyAction::unset, "PassOptions::checkpoint"}}}};
}

Error is_not_divided(const Ranks* ranks, bool is_merged_in_order) {
  std::string why = is_merged_in_order
                        ? "it is merged in the order of the data"
                        : "it has no `partial_name`, or its partials cannot be saved";
  if (ranks == nullptr) return has_no_checkpoints(std::move(why));
  return needs_one_rank(std::move(why));
}

}  // namespace ooc::detail

namespace ooc::detail {

std::vector<std::filesystem::path> files_of(const Checkpoint& checkpoint) {
  std::error_code failed;
  const auto status = std::filesystem::status(checkpoint.file, failed);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (failed) throw Error::from_errno(ErrorKind::input, "stat", failed.value(), checkpoint.file);
  if (std::filesystem::is_directory(status)) return rank_files(checkpoint.file);
  return {checkpoint.file};
}

}  // namespace ooc::detail
