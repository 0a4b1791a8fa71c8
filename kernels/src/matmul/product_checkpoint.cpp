#include "matmul/product_checkpoint.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/ranks/together.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc::detail::product {

namespace {

constexpr std::string_view name = "ooc.matmul/1";

int percent(double part) {
  return static_cast<int>(100 * part);
}

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

/// True if these may be borders of parts of `total`: rising from 0 to `total`.
bool are_borders(std::span<const std::uint64_t> borders, std::uint64_t total) {
  return borders.size() >= 2 && borders.front() == 0 && borders.back() == total &&
         std::ranges::is_sorted(borders);
}

void append_borders(std::vector<std::byte>& out, std::span<const std::uint64_t> borders) {
  append_bytes(out, std::uint64_t{borders.size()});
  append_span(out, std::as_bytes(borders));
}

std::vector<std::uint64_t> take_borders(ByteReader& in) {
  std::vector<std::uint64_t> borders(in.take_count(sizeof(std::uint64_t)));
  for (std::uint64_t& border : borders) border = in.take<std::uint64_t>();
  return borders;
}

Error not_of_this_product(const std::filesystem::path& path) {
  return {ErrorKind::bad_input,
          path.string() + ": is not the checkpoint of this product",
          {.path = path, .hint = "without the file, the job begins anew"}};
}

}  // namespace

ProductCheckpoint::ProductCheckpoint(const Checkpoint& wanted, Ranks* ranks, const Source& a,
                                     const Source& b, const Target& target, Precision precision)
    : wanted_(wanted),
      ranks_(ranks),
      file_(wanted, ranks),
      rows_(a.shape()[0]),
      columns_(b.shape()[1]),
      inner_(a.shape()[1]) {
  const std::size_t element_bytes = size_of(*a.type());
  const std::array<PassInput, 2> inputs{PassInput{a, element_bytes}, PassInput{b, element_bytes}};
  const std::array questions{OperatorQuestion{name, std::string(name_of(precision)), "matrices"}};
  for (const PartFile* const saved : file_.begin(inputs, questions, {&target, 1})) {
    if (!saved->covers.empty()) take(saved->parts.front());
  }
}

Problem ProductCheckpoint::problem_of(const Region& region) const {
  return {.rows = region.rows,
          .columns = region.columns,
          .inner = inner_,
          .file_bytes = 0,
          .operand_bytes = 0,
          .product_bytes = 0};
}

/// Returns the number of elements of C that are written.
std::uint64_t ProductCheckpoint::elements() const {
  std::uint64_t elements = 0;
  for (const Block& block : blocks_) {
    if (block.tiles == 0) continue;
    elements += elements_in(problem_of(block.region), block.tiling, block.tiles);
  }
  return elements;
}

double ProductCheckpoint::part_done() const {
  if (rows_ * columns_ == 0) return 1;
  return static_cast<double>(elements()) / static_cast<double>(rows_ * columns_);
}

void ProductCheckpoint::set_grid(Grid grid) {
  grid_ = std::move(grid);
  blocks_.clear();
  for (std::size_t i = 0; i < grid_.size(); ++i) blocks_.push_back({.region = grid_.block(i)});
}

Grid ProductCheckpoint::take_grid(ByteReader& in) const {
  if (take_text(in) != name) throw not_of_this_product(wanted_.file);
  Grid grid{take_borders(in), take_borders(in)};
  if (!are_borders(grid.rows, rows_) || !are_borders(grid.columns, columns_)) {
    throw not_of_this_product(wanted_.file);
  }
  return grid;
}

/// Takes over the progress from a file or from rank 0. For each block, the largest number of tiles
/// counts: that of the rank that computes the block.
void ProductCheckpoint::take(std::span<const std::byte> part) {
  ByteReader in(part);
  const Grid grid = take_grid(in);
  if (blocks_.empty()) set_grid(grid);
  if (grid != grid_) throw not_of_this_product(wanted_.file);
  for (Block& block : blocks_) {
    const auto tiles = in.take<std::uint64_t>();
    const Tiling tiling = take_tiling(in);
    if (tiles <= block.tiles) continue;
    if (!is_of(tiling, problem_of(block.region)) ||
        tiles > tiling.row_tiles * tiling.column_tiles) {
      throw not_of_this_product(wanted_.file);
    }
    block.tiling = tiling;
    block.tiles = block.first_tiles = tiles;
  }
  in.require_end();
}

std::vector<std::byte> ProductCheckpoint::part() const {
  std::vector<std::byte> part;
  append_text(part, name);
  append_borders(part, grid_.rows);
  append_borders(part, grid_.columns);
  for (const Block& block : blocks_) {
    append_bytes(part, block.tiles);
    append_tiling(part, block.tiling);
  }
  return part;
}

PartFile ProductCheckpoint::found() const {
  std::vector<RecordRange> covers;
  if (const std::uint64_t count = elements(); count != 0) covers.push_back({0, count});
  PartFile file = file_.empty();
  add_part(file, rows_ * columns_, covers, part());
  return file;
}

void ProductCheckpoint::begin(Grid grid, OutputFiles& files, Stats& stats) {
  files_ = &files;
  stats_ = &stats;
  const bool is_first = ranks_ == nullptr || ranks_->is_first();
  if (is_first) {
    if (blocks_.empty()) set_grid(std::move(grid));
    if (file_.is_wanted()) {
      beside([&] {
        file_.save(found());  // report an error about this file before any work is done
        files.keep();
      });
      file_.remove_others();
    }
    file_.start_others();
  }
  const auto said = exchange(ranks_, is_first ? part() : std::vector<std::byte>{});
  if (!is_first) take(said.front());
  saved_at_ = Clock::now();
  saved_percent_ = percent(part_done());
  if (!is_first || elements() == 0) return;
  stats.outcome.remarks.push_back("went on after " + std::to_string(saved_percent_) +
                                  " % of C, which an earlier run has written");
}

std::optional<ProductCheckpoint::Begun> ProductCheckpoint::begun(std::size_t block) const {
  const std::scoped_lock lock(mutex_);
  const Block& of = blocks_[block];
  if (of.tiles == 0) return {};
  return Begun{of.tiling, of.tiles};
}

void ProductCheckpoint::start(std::size_t block, const Schedule& schedule) {
  const std::scoped_lock lock(mutex_);
  blocks_[block].tiling = schedule.tiling;
  blocks_[block].first_tiles = blocks_[block].tiles = schedule.tiles_done;
}

void ProductCheckpoint::note(std::size_t block, std::uint64_t tiles) {
  const std::scoped_lock lock(mutex_);
  Block& of = blocks_[block];
  if (of.first_tiles + tiles > of.tiles) {
    of.tiles = of.first_tiles + tiles;
    has_more_ = true;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - saved_at_).count();
  if (seconds >= wanted_.every_seconds) save_now();
}

void ProductCheckpoint::save() {
  beside([this] {
    const std::scoped_lock lock(mutex_);
    save_now();
  });
}

void ProductCheckpoint::meet(const std::function<void()>& meanwhile) {
  if (ranks_ != nullptr && !ranks_->is_first()) beside([this] { files_->keep(); });
  for (const auto& said : exchange(ranks_, part(), meanwhile)) take(said);
  if (inner_ == 0 || elements() == rows_ * columns_) return;
  throw Error(ErrorKind::internal, "the ranks have not computed all of C");
}

/// Does some work on another thread, and attends to the other ranks until it is done.
void ProductCheckpoint::beside(const std::function<void()>& work) const {
  if (ranks_ == nullptr) return work();
  const auto attend = [this] {
    try {
      ranks_->attend();
    } catch (const Error&) {
      // Another rank has failed. The work of this rank is saved nevertheless.
    }
  };
  work_beside(attend, work);
}

void ProductCheckpoint::save_now() {
  if (!file_.is_wanted() || !has_more_ || std::exchange(is_lost_, true)) return;
  const Clock::time_point began = Clock::now();
  files_->keep();
  is_lost_ = false;
  file_.set_outputs(files_->saved(false));
  try {
    file_.save(found());
    has_more_ = false;
    saved_percent_ = percent(part_done());
    why_not_saved_.clear();
    ++stats_->outcome.checkpoints;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::output) throw;
    why_not_saved_ = error.what();
    add_unsaved_remark(error, *stats_);
  }
  saved_at_ = Clock::now();
  stats_->timing.checkpoint_seconds += std::chrono::duration<double>(saved_at_ - began).count();
}

void ProductCheckpoint::save_whole() {
  if (!file_.is_wanted()) return;
  file_.save_whole(found(), files_->saved(true), *stats_);
}

/// Returns, for example, "job.part and .c.npy.abcdefgh.ooc-part have 25 % of C". Of several ranks,
/// each knows its own blocks only, so the text has no percentage.
std::string ProductCheckpoint::kept() const {
  const std::scoped_lock lock(mutex_);
  std::string text = wanted_.file.string();
  for (const std::string& name : files_->kept_names()) text += " and " + name;
  const bool is_alone = ranks_ == nullptr || ranks_->size() == 1;
  const std::string what = is_alone ? std::to_string(saved_percent_) + " % of C" : "what was made";
  return text + " have " + what;
}

Error ProductCheckpoint::with_kept_files(const Error& error) const {
  if (!file_.is_wanted()) return error;
  ErrorDetails details = error.details();
  details.why += (details.why.empty() ? "" : "; ") + kept();
  return {error.kind(), error.what(), details};
}

Error ProductCheckpoint::interrupted(const Error& error) const {
  if (!file_.is_wanted()) return error;
  const std::string what = "interrupted; " + kept();
  return {ErrorKind::interrupted,
          why_not_saved_.empty() ? what : what + ", and no more: " + why_not_saved_,
          {.path = wanted_.file, .hint = "the same job goes on from there"}};
}

}  // namespace ooc::detail::product
