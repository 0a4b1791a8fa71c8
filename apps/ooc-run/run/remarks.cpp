#include "run/remarks.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <ooc/collect.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/detail/parts/part_file.hpp>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "draw/picture_file.hpp"

namespace ooc_run {

std::vector<FactRow> try_side_files(const SideFiles& files) {
  std::vector<FactRow> rows;
  if (files.plot) {
    const PictureFile picture(*files.plot, files.replace);
    rows.push_back({"plot", printable(files.plot->string())});
  }
  for (const auto& [name, path] : {std::pair{"trace", files.trace}, {"report", files.report}}) {
    if (!path) continue;
    const ooc::detail::OutputFile file(*path, 0, files.replace, ooc::detail::Purpose::dry_run);
    rows.push_back({name, printable(path->string())});
  }
  return rows;
}

std::vector<FactRow> checkpoint_row(const ooc::Checkpoint& checkpoint) {
  if (!checkpoint) return {};
  const double every = checkpoint.every_seconds;
  std::string text = fmt::format("progress, to {}, {}", printable(checkpoint.file.string()),
                                 std::isinf(every) ? "when the run is stopped"
                                 : every > 0       ? "every " + format_seconds(every)
                                                   : "after each partition");
  std::uint64_t covered = 0, records = 0;
  for (const std::filesystem::path& path : ooc::detail::files_of(checkpoint)) {
    const ooc::PartFile file = ooc::read_part_file(path);
    records = file.records;
    for (const ooc::RecordRange& range : file.covers) covered += range.count;
  }
  if (records != 0) {
    text +=
        fmt::format("; it is there, with {} of {} records of a pass",
                    group_digits(std::to_string(covered)), group_digits(std::to_string(records)));
  }
  return {{"saves", text}};
}

}  // namespace ooc_run
