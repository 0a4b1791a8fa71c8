#include "matmul/product_checkpoint.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc::product {

namespace {

constexpr std::string_view name = "ooc.matmul/1";

void append_tiling(std::vector<std::byte>& out, const Tiling& tiling) {
  for (const std::uint64_t number :
       {static_cast<std::uint64_t>(tiling.resident), tiling.tile_rows, tiling.tile_columns,
        tiling.tile_inner, tiling.row_tiles, tiling.column_tiles, tiling.inner_tiles,
        tiling.group_rows, std::uint64_t{tiling.a_buffers}, std::uint64_t{tiling.b_buffers},
        std::uint64_t{tiling.c_buffers}}) {
    append_bytes(out, number);
  }
}

Tiling take_tiling(ByteReader& in) {
  Tiling tiling;
  const auto resident = in.take<std::uint64_t>();
  if (resident > static_cast<std::uint64_t>(Resident::c)) {
    throw Error(ErrorKind::bad_input, "a checkpoint of a product has no tiling");
  }
  tiling.resident = static_cast<Resident>(resident);
  for (std::uint64_t* const number :
       {&tiling.tile_rows, &tiling.tile_columns, &tiling.tile_inner, &tiling.row_tiles,
        &tiling.column_tiles, &tiling.inner_tiles, &tiling.group_rows}) {
    *number = in.take<std::uint64_t>();
  }
  for (std::size_t* const number : {&tiling.a_buffers, &tiling.b_buffers, &tiling.c_buffers}) {
    *number = in.take<std::uint64_t>();
  }
  return tiling;
}

bool is_of(const Tiling& tiling, const Problem& problem) {
  const auto divides = [](std::uint64_t total, std::uint64_t size, std::uint64_t parts) {
    return size >= 1 && size <= total && parts == divide_up(total, size);
  };
  return divides(problem.rows, tiling.tile_rows, tiling.row_tiles) &&
         divides(problem.columns, tiling.tile_columns, tiling.column_tiles) &&
         divides(problem.inner, tiling.tile_inner, tiling.inner_tiles) && tiling.group_rows >= 1 &&
         tiling.group_rows <= tiling.row_tiles && tiling.a_buffers >= 1 &&
         tiling.a_buffers <= tiling.row_tiles * tiling.inner_tiles && tiling.b_buffers >= 1 &&
         tiling.b_buffers <= tiling.column_tiles * tiling.inner_tiles && tiling.c_buffers >= 1 &&
         tiling.c_buffers <= tiling.row_tiles * tiling.column_tiles;
}

}  // namespace

ProductCheckpoint::ProductCheckpoint(const Checkpoint& wanted, const Source& a, const Source& b,
                                     const Target& target, Precision precision)
    : wanted_(wanted), file_(wanted) {
  const std::size_t element_bytes = size_of(*a.type());
  const std::array<PassInput, 2> inputs{PassInput{a, element_bytes}, PassInput{b, element_bytes}};
  const std::array questions{
      detail::OperatorQuestion{name, std::string(name_of(precision)), "matrices"}};
  const auto saved = file_.begin(inputs, questions, {&target, 1});
  if (!saved.empty()) saved_ = saved.front();
}

std::optional<ProductCheckpoint::Begun> ProductCheckpoint::begun(const Problem& problem) const {
  if (saved_ == nullptr || saved_->covers.empty()) return {};
  const std::vector<std::byte>& part = saved_->parts.front();
  ByteReader in(part);
  const bool is_product = take_text(in) == name;
  Begun begun;
  if (is_product) begun.tiling = take_tiling(in);
  if (is_product) begun.tiles = in.take<std::uint64_t>();
  const Tiling& tiling = begun.tiling;
  if (!is_product || !is_of(tiling, problem) ||
      begun.tiles > tiling.row_tiles * tiling.column_tiles) {
    throw Error(ErrorKind::bad_input,
                wanted_.file.string() + ": is not the checkpoint of this product",
                {.path = wanted_.file, .hint = "without the file, the job begins anew"});
  }
  in.require_end();
  return begun;
}

PartFile ProductCheckpoint::found(std::uint64_t tiles) const {
  const std::uint64_t done = schedule_->tiles_done + tiles;
  std::vector<std::byte> part;
  append_text(part, name);
  append_tiling(part, schedule_->tiling);
  append_bytes(part, done);
  std::vector<RecordRange> covers;
  const std::uint64_t elements = elements_in(*problem_, schedule_->tiling, done);
  if (elements != 0) covers.push_back({0, elements});
  PartFile file = file_.empty();
  file.add(problem_->rows * problem_->columns, covers, std::move(part));
  return file;
}

void ProductCheckpoint::begin(const Problem& problem, const Schedule& schedule,
                              detail::OutputFiles& files, Stats& stats) {
  problem_ = &problem;
  schedule_ = &schedule;
  files_ = &files;
  stats_ = &stats;
  file_.save(found(0));
  files.keep();
  saved_at_ = Clock::now();
  if (schedule.tiles_done == 0) return;
  stats.outcome.remarks.push_back(
      "went on after " + std::to_string(schedule.tiles_done) + " of " +
      std::to_string(schedule.tiling.row_tiles * schedule.tiling.column_tiles) +
      " tiles of C, which an earlier run has written");
}

bool ProductCheckpoint::is_due(std::uint64_t tiles) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - saved_at_).count();
  return !is_lost_ && tiles > saved_tiles_ && seconds >= wanted_.every_seconds;
}

void ProductCheckpoint::save(std::uint64_t tiles) {
  if (std::exchange(is_lost_, true)) return;
  const Clock::time_point began = Clock::now();
  files_->keep();
  is_lost_ = false;
  file_.set_outputs(files_->saved(false));
  try {
    file_.save(found(tiles));
    saved_tiles_ = tiles;
    why_not_saved_.clear();
    ++stats_->outcome.checkpoints;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::output) throw;
    why_not_saved_ = error.what();
    detail::add_unsaved_remark(error, *stats_);
  }
  saved_at_ = Clock::now();
  stats_->timing.checkpoint_seconds += std::chrono::duration<double>(saved_at_ - began).count();
}

void ProductCheckpoint::save_whole() {
  const Tiling& tiling = schedule_->tiling;
  const std::uint64_t tiles = tiling.row_tiles * tiling.column_tiles - schedule_->tiles_done;
  file_.save_whole(found(tiles), files_->saved(true), *stats_);
}

/// Returns "job.part and .c.npy.abcdefgh.ooc-part have 3 of 12 tiles of C".
std::string ProductCheckpoint::kept() const {
  const Tiling& tiling = schedule_->tiling;
  std::string text = wanted_.file.string();
  for (const std::string& name : files_->kept_names()) text += " and " + name;
  return text + " have " + std::to_string(schedule_->tiles_done + saved_tiles_) + " of " +
         std::to_string(tiling.row_tiles * tiling.column_tiles) + " tiles of C";
}

Error ProductCheckpoint::with_kept_files(const Error& error) const {
  ErrorDetails details = error.details();
  details.why += (details.why.empty() ? "" : "; ") + kept();
  return {error.kind(), error.what(), details};
}

Error ProductCheckpoint::interrupted() const {
  const std::string what = "interrupted; " + kept();
  return {ErrorKind::interrupted,
          why_not_saved_.empty() ? what : what + ", and no more: " + why_not_saved_,
          {.path = wanted_.file, .hint = "the same job goes on from there"}};
}

}  // namespace ooc::product
