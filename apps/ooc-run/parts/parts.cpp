#include "parts/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/failure.hpp"

namespace ooc_run {
namespace {

/// Throws Error unless two parts have the same question and data. If the data differ only in the
/// times of files, adds a hint.
void require_same_data(const ShardPart& one, const ShardPart& other, bool ignore_times) {
  const auto compare = [&](bool without_times) {
    ooc::require_same_data(one.file, one.path, other.file, other.path, without_times);
  };
  if (ignore_times) return compare(true);
  try {
    compare(false);
  } catch (const ooc::Error& error) {
    compare(true);
    throw with_hint(error,
                    "if these are copies of one file, --ignore-times compares sizes and samples of "
                    "the bytes only");
  }
}

/// Reads a part file again, with its answers. `first`: the first of all parts. Throws ooc::Error.
ooc::PartFile read_again(const ShardPart& part, const ShardPart& first) {
  ooc::PartFile file = ooc::read_part_file(part.path);
  ooc::require_same_data(first.file, first.path, file, part.path, true);
  const bool is_same = file.covers == part.file.covers && file.about == part.file.about &&
                       file.records == part.file.records;
  if (is_same) return file;
  throw ooc::Error(ooc::ErrorKind::input_changed, "changed while it was merged");
}

}  // namespace

Parts read_parts(const std::vector<std::string>& paths, bool ignore_times) {
  std::vector<ShardPart> parts;
  std::unique_ptr<Question> question;
  for (const std::string& path : paths) {
    parts.push_back({.path = path, .file = ooc::read_part_file(path)});
    ShardPart& part = parts.back();
    require_same_data(parts.front(), part, ignore_times);
    part.file.parts = {};
    try {
      if (parts.size() == 1) question = question_in(part.file.question);
      part.facts = facts_in(part.file);
    } catch (const ooc::Error& error) {
      refuse_part(path, error);
    }
    if (parts.size() == 1) continue;
    part.file.question = {};
    part.file.input = {};
    part.file.earlier = {};
  }
  ooc::PartFile common = parts.front().file;
  std::ranges::stable_sort(parts, {}, &ShardPart::first);
  ooc::PartFile& first = parts.front().file;
  first.question = std::move(common.question);
  first.input = std::move(common.input);
  first.earlier = std::move(common.earlier);
  try {
    question->take(first.earlier, first.records);
  } catch (const ooc::Error& error) {
    refuse_part(parts.front().path, error);
  }
  return {.all = std::move(parts), .question = std::move(question)};
}

void merge(const Parts& parts) {
  for (const ShardPart& part : parts.all) {
    try {
      parts.question->merge(read_again(part, parts.all.front()));
    } catch (const ooc::Error& error) {
      refuse_part(part.path, error);
    }
  }
}

void refuse_part(const std::string& path, const ooc::Error& error) {
  ooc::ErrorDetails details = error.details();
  details.path = path;
  throw ooc::Error(error.kind(), fmt::format("{}: {}", path, error.what()), details);
}

}  // namespace ooc_run
