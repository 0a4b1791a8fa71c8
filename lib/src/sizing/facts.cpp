#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/sizing/facts.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/http/remote_object.hpp>

#include <algorithm>
#include <utility>

#include "sizing/reading.hpp"

namespace ooc::detail {

namespace {

/// Returns a file that keeps a source from being read directly, or null. A file smaller than a
/// page, beside larger ones, does not: only that file is read through the page cache.
const File* first_without_direct(std::span<const File> files) {
  const auto allows = [](const File& file) { return file.direct() >= 0; };
  const auto refuses = [&](const File& file) { return !allows(file) && file.size() >= page_bytes; };
  const auto found = std::ranges::find_if(files, refuses);
  if (found != files.end()) return &*found;
  return files.empty() || std::ranges::any_of(files, allows) ? nullptr : &files.front();
}

Error refused_by(const File& file) {
  if (file.disk_errno() != 0) return read_error(file, 0, file.disk_errno());
  return {ErrorKind::usage,
          file.path().string() + ": direct reads are not possible: " + file.why_not_direct(),
          {.path = file.path(), .remedies = {{RemedyAction::unset, "Options::direct"}}}};
}

}  // namespace

std::uint64_t SourceFacts::bytes() const {
  std::uint64_t sum = 0;
  for (const InputStorage& input : inputs) sum += input.map.bytes();
  return sum;
}

SourceFacts facts_of(const Source& source) {
  SourceFacts facts;
  if (source.is_produced()) {
    facts.is_produced = true;
    facts.any_direct = false;
    facts.inputs = {{StorageMap({{0, 0, most_produced_bytes}})}};
    facts.not_direct =
        NotDirect{source.name(),
                  {ErrorKind::usage,
                   source.name() + ": direct reads are not possible: it is not a file",
                   {.remedies = {{RemedyAction::unset, "Options::direct"}}}}};
    return facts;
  }
  facts.inputs = {{storage_of(source)}};
  for (const File& file : files_of(source)) {
    if (file.remote() != nullptr) facts.server = file.remote()->address().server();
    facts.needs_threads |= file.memory() != nullptr || file.encoded() != nullptr;
    if (const EncodedArray* const array = file.encoded()) {
      if (array->is_divisible()) continue;
      facts.decodes |= array->is_encoded();
      facts.piece_bytes = std::max(facts.piece_bytes, array->longest_band());
      facts.kept_bytes += array->kept_bytes();
      const bool begins_with_piece =
          files_of(source).size() == 1 && storage_of(source).size() == 1 &&
          (*storage_of(source).begin()).offset % array->longest_band() == 0;
      facts.is_regular &= array->is_regular() && begins_with_piece;
    }
  }
  if (const File* const file = first_without_direct(files_of(source))) {
    facts.not_direct = NotDirect{file->why_not_direct(), refused_by(*file)};
  }
  facts.any_direct =
      std::ranges::any_of(files_of(source), [](const File& file) { return file.direct() >= 0; });
  facts.cached = page_cache_fraction(source);
  const bool is_divided = facts.cached_or_none() > 0 && facts.cached_or_none() < 1;
  constexpr std::size_t few = 64;  // of which each is asked for its pages
  const bool is_in_few = storage_of(source).size() <= few;
  if (is_divided && is_in_few) facts.runs = cached_runs(source);
  facts.holes = hole_fraction(source);
  return facts;
}

SourceFacts facts_of(std::span<const PassInput> inputs) {
  if (inputs.size() == 1) return facts_of(inputs.front().source);
  SourceFacts all{.any_direct = false};
  double cached = 0, holes = 0;
  bool is_known = true;
  std::uint32_t files = 0;
  for (const PassInput& input : inputs) {
    SourceFacts facts = facts_of(input.source);
    const auto bytes = static_cast<double>(input.source.bytes());
    cached += facts.cached_or_none() * bytes;
    holes += facts.holes * bytes;
    is_known &= facts.cached.has_value();
    all.any_direct |= facts.any_direct;
    all.needs_threads |= facts.needs_threads;
    all.decodes |= facts.decodes;
    all.kept_bytes += facts.kept_bytes;
    all.is_regular = false;
    all.piece_bytes = std::max(all.piece_bytes, facts.piece_bytes);
    if (!facts.server.empty()) all.server = std::move(facts.server);
    if (facts.not_direct && !all.not_direct) all.not_direct = std::move(facts.not_direct);
    all.inputs.push_back({std::move(facts.inputs.front().map), files});
    files += static_cast<std::uint32_t>(files_of(input.source).size());
  }
  const auto bytes = static_cast<double>(all.bytes());
  if (bytes == 0) return all;
  if (is_known) all.cached = cached / bytes;
  all.holes = holes / bytes;
  return all;
}

OutputFacts facts_of(const OutputFile& file, std::uint64_t offset, std::size_t record_bytes) {
  return {.record_bytes = record_bytes, .offset = offset, .why_not_direct = file.why_not_direct()};
}

}  // namespace ooc::detail
