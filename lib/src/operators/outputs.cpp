#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/operators/outputs.hpp>

#include <ooc/detail/parts/part_file.hpp>
#include <ooc/detail/sizing/facts.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "inputs/distinct_fields.hpp"
#include "inputs/type_words.hpp"
#include "observe/stopwatch.hpp"

namespace ooc::detail {

namespace {

/// True if a target may hold what an operator makes: the same struct, or the same elements in
/// either byte order.
bool is_as_made(const DType& held, const DType& made) {
  return held == made || (!held.is_struct() && !made.is_struct() && held.element == made.element);
}

/// Throws Error(usage) unless the target holds what the operator makes.
const Target& checked(const Target& target, const MadeRecords& made) {
  const std::optional<DType>& type = made.type;
  if (type) require_distinct_fields(*type);
  const DType& wanted = target.known_type();
  if (type && !is_as_made(wanted, *type)) {
    const bool says_struct = type->is_struct() && wanted.is_struct();
    throw Error(ErrorKind::usage,
                target.path.string() + ": the operator makes " + words_for(*type) +
                    ", the target is to hold " + words_for(wanted),
                {.path = target.path,
                 .why = says_struct ? "structs are written as they are in memory" : "",
                 .hint = "leave the type of the target out: it is that of the operator's Output",
                 .remedies = {{RemedyAction::set, "Target::type", words_for(*type)}}});
  }
  const std::size_t held = size_of(wanted);
  if (held == made.element_bytes) return target;
  throw Error(ErrorKind::usage,
              target.path.string() + ": the operator makes elements of " +
                  std::to_string(made.element_bytes) + " bytes, those of " + words_for(wanted) +
                  " have " + std::to_string(held),
              {.path = target.path, .remedies = {{RemedyAction::set, "Target::type"}}});
}

/// Returns a path that is the same for all names of a file, which need not exist.
std::filesystem::path place_of(const Target& target) {
  std::error_code error;
  const auto path = std::filesystem::absolute(follow_links(target.path), error);
  if (error) return target.path;
  const auto directory = std::filesystem::weakly_canonical(path.parent_path(), error);
  return error ? path : directory / path.filename();
}

/// Throws Error(usage) if two targets are one file.
void require_different(std::span<const Target> targets) {
  if (targets.size() < 2) return;
  std::set<std::filesystem::path> places;
  for (const Target& target : targets) {
    if (places.insert(place_of(target)).second) continue;
    throw Error(ErrorKind::usage, target.path.string() + ": is the target of two outputs",
                {.path = target.path, .hint = "give each output a file of its own"});
  }
}

Error too_large(const Target& target) {
  return {ErrorKind::usage,
          target.path.string() + ": so large a file there cannot be",
          {.path = target.path}};
}

/// Returns the lengths of the rows of a target that has the shape of a source, whose length shows
/// at its end; nothing for other shapes.
std::optional<std::vector<std::uint64_t>> rows_of(const Target& target, const Source& source) {
  if (target.shape.empty() || !std::ranges::equal(target.shape, source.shape())) return {};
  if (std::ranges::find(target.shape, 0u) != target.shape.end()) return {};
  return std::vector(target.shape.begin() + 1, target.shape.end());
}

void require_no_shape(const Target& target) {
  if (target.shape.empty()) return;
  throw Error(ErrorKind::usage,
              target.path.string() + ": the shape of what is kept cannot be given",
              {.path = target.path,
               .why = "the number of records shows when all are read",
               .hint = "leave the shape of the target empty"});
}

/// Returns the place where the file of an output is kept.
std::filesystem::path kept_path(const std::filesystem::path& output, const SavedOutput& saved) {
  return follow_links(output).parent_path() / saved.file.name;
}

/// True if an earlier run has moved the file of an output into place.
bool has_been_moved(const Target& target, const SavedOutput& saved) {
  if (!saved.whole) return false;
  std::error_code failed;
  if (std::filesystem::exists(kept_path(target.path, saved), failed) || failed) return false;
  const std::filesystem::path path = follow_links(target.path);
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  const FileIdentity file = identity_of(File::open(path));
  return file.bytes == saved.whole->bytes && file.modified_ns == saved.whole->modified_ns &&
         file.hash == saved.whole->hash;
}

/// Returns the first error, with the text of the other one added to its cause.
Error joined(const Error& first, const Error& other) {
  ErrorDetails details = first.details();
  for (const std::string& text : {std::string(other.what()), other.details().why}) {
    if (!text.empty()) details.why += (details.why.empty() ? "" : "; ") + text;
  }
  return {first.kind(), first.what(), details};
}

std::vector<const Source*> sources_of(std::span<const PassInput> inputs) {
  std::vector<const Source*> sources;
  for (const PassInput& input : inputs) sources.push_back(&input.source);
  return sources;
}

}  // namespace

Error rows_differ(std::size_t columns, std::size_t others) {
  return {ErrorKind::usage,
          "an input has rows of " + std::to_string(columns) + " elements, another of " +
              std::to_string(others),
          {.why = "the rows of the output are as long as those of the inputs",
           .hint = "let the operator say how long they are: `std::size_t "
                   "output_columns(std::size_t columns) const`"}};
}

Error no_columns() {
  return {ErrorKind::usage,
          "output_columns() of the operator returns 0",
          {.why = "a row has at least one element"}};
}

OutputFiles::OutputFiles(std::span<const PassInput> inputs, std::span<const Target> targets,
                         std::span<const MadeRecords> made, Purpose purpose,
                         std::span<const SavedOutput> kept)
    : purpose_(is_produced(inputs) ? Purpose::append : purpose), kept_(kept.begin(), kept.end()) {
  std::vector<Target> all_targets(targets.begin(), targets.end());
  std::vector<MadeRecords> all_made(made.begin(), made.end());
  for (std::size_t i = 0; i < targets.size() && purpose != purpose_; ++i) {
    auto rows = rows_of(targets[i], inputs.front().source);
    if (!rows) continue;
    all_made[i].row_shape = std::move(*rows);
    all_targets[i].shape.clear();
  }
  open(records_of(inputs.front()), all_targets, all_made, sources_of(inputs));
}

OutputFiles::OutputFiles(std::uint64_t records, std::span<const Target> targets,
                         std::span<const MadeRecords> made, std::span<const Source* const> sources,
                         Purpose purpose, std::span<const SavedOutput> kept)
    : purpose_(purpose), kept_(kept.begin(), kept.end()) {
  open(records, targets, made, sources);
}

void OutputFiles::open(std::uint64_t records, std::span<const Target> targets,
                       std::span<const MadeRecords> made, std::span<const Source* const> sources) {
  require_different(targets);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::size_t columns = made[i].columns.value_or(1);
    std::uint64_t most = records;
    if (made[i].bytes() > most_produced_bytes / std::max<std::uint64_t>(records, 1)) {
      if (purpose_ != Purpose::append) throw too_large(targets[i]);
      most = most_produced_bytes / made[i].bytes();
    }
    Target target = checked(targets[i], made[i]);
    if (purpose_ == Purpose::append) {
      require_no_shape(target);
      row_shapes_.push_back(made[i].row_shape);
      if (made[i].columns && row_shapes_.back().empty()) row_shapes_.back().push_back(columns);
    } else if (made[i].columns && target.shape.empty()) {
      target.shape = {records, columns};
    }
    is_in_place_.push_back(!kept_.empty() && has_been_moved(target, kept_[i]));
    if (is_in_place_.back()) {
      // Opened as a dry run, the file takes no space: it is complete, and in its place.
      files_.push_back(std::make_unique<TargetFile>(
          Target{.path = target.path, .type = target.type, .replace = true}, 0, sources,
          Purpose::dry_run));
    } else {
      files_.push_back(std::make_unique<TargetFile>(target, most * columns, sources, purpose_,
                                                    kept_.empty() ? KeptFile{} : kept_[i].file));
    }
    outputs_.push_back(
        {*files_.back(), made[i].bytes(), target.known_type().swapped ? made[i].element_bytes : 0});
  }
}

std::uint64_t OutputFiles::appended(std::size_t output) const {
  const TargetFile& file = *files_[output];
  const std::uint64_t bytes = is_in_place_[output] ? kept_[output].whole->bytes - file.data_offset()
                                                   : file.appended_bytes();
  return bytes / outputs_[output].record_bytes;
}

void OutputFiles::go_to(std::uint64_t record) {
  const bool appends = purpose_ == Purpose::append;
  for (Output& output : outputs_) output.records_before = appends ? 0 : record;
}

/// Calls act(index) for each file that is not in its place yet.
template <class Do>
void OutputFiles::for_each_to_move(const Do& act) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!is_in_place_[i]) act(i);
  }
}

void OutputFiles::keep() {
  for_each_to_move([this](std::size_t i) { files_[i]->keep(); });
}

std::vector<std::string> OutputFiles::kept_names() const {
  std::vector<std::string> names;
  for_each_to_move(
      [&](std::size_t i) { names.push_back(kept_path(files_[i]->path(), kept_[i]).string()); });
  return names;
}

std::vector<SavedOutput> OutputFiles::saved(bool are_whole) const {
  std::vector<SavedOutput> saved = kept_;
  for_each_to_move([&](std::size_t i) {
    // Until something is appended, not even the header has been written.
    saved[i].file.bytes = files_[i]->appended_bytes() == 0 ? 0 : files_[i]->bytes();
    if (are_whole) saved[i].whole = identity_of(File::open(kept_path(files_[i]->path(), saved[i])));
  });
  return saved;
}

void OutputFiles::commit(Stats& stats, const std::function<void()>& before_moving) {
  const Stopwatch watch;
  if (purpose_ == Purpose::append) {
    for_each_to_move([this](std::size_t i) { files_[i]->end(row_shapes_[i]); });
  }
  for_each_to_move([this](std::size_t i) { files_[i]->make_durable(); });
  if (before_moving) before_moving();
  std::optional<Error> failure;
  for_each_to_move([&](std::size_t i) {
    try {
      files_[i]->commit();
      if (!files_[i]->note().empty()) stats.outcome.remarks.push_back(files_[i]->note());
    } catch (const Error& error) {
      failure = failure ? joined(*failure, error) : error;  // the others are whole, too
    }
  });
  if (failure) throw *failure;
  stats.timing.commit_seconds = watch.seconds();
  stats.timing.seconds += stats.timing.commit_seconds;
}

}  // namespace ooc::detail
