#include <ooc/detail/sizing/facts.hpp>

#include <ooc/io/units.hpp>

#include <algorithm>
#include <utility>

namespace ooc {

namespace {

/// Returns a file that keeps a source from being read directly, or null. A file below a page does
/// not, beside larger ones: it alone is read through the page cache.
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
          {.path = file.path(), .remedies = {{Change::unset, "Options::direct"}}}};
}

}  // namespace

std::uint64_t SourceFacts::bytes() const {
  std::uint64_t sum = 0;
  for (const Extent& extent : extents) sum += extent.bytes;
  return sum;
}

SourceFacts facts_of(const Source& source) {
  SourceFacts facts;
  facts.extents.assign(source.extents().begin(), source.extents().end());
  if (const File* const file = first_without_direct(source.files())) {
    facts.not_direct = NotDirect{file->why_not_direct(), refused_by(*file)};
  }
  facts.any_direct =
      std::ranges::any_of(source.files(), [](const File& file) { return file.direct() >= 0; });
  facts.cached = page_cache_fraction(source);
  const bool is_divided = facts.cached_or_none() > 0 && facts.cached_or_none() < 1;
  if (is_divided) facts.runs = cached_runs(source);
  facts.holes = hole_fraction(source);
  return facts;
}

OutputFacts facts_of(const OutputFile& file, std::uint64_t data_offset, std::size_t element_bytes) {
  return {.element_bytes = element_bytes,
          .data_offset = data_offset,
          .why_not_direct = file.why_not_direct()};
}

}  // namespace ooc
