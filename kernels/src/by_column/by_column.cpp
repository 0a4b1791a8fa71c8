#include "lines/lines.hpp"
#include "reduce/saved_tree.hpp"
#include "reduce/statistics.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/memory.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

using namespace detail;
namespace {

using reduction::Node;

/// Phases of the columns of a tile (see lines/lines.hpp).
constexpr std::size_t phases = 32;

/// The node of a tree of tiles: one for each column.
template <class T>
using ColumnNodes = std::vector<Node<T>>;

/// Joins neighbours, column by column, and keeps the memory of the right one.
template <class T>
struct MergeColumns {
  std::vector<ColumnNodes<T>>* spare;

  void operator()(ColumnNodes<T>& left, ColumnNodes<T>& right) const {
    for (std::size_t c = 0; c < left.size(); ++c) left[c].merge_right(right[c]);
    spare->push_back(std::move(right));
  }
};

/// State of a CPU lane between tiles, as reduction::CpuLane.
struct CpuLane {
  /// Starts a chunk at row `first`.
  void begin_chunk(std::uint64_t first, std::uint64_t rows, std::size_t columns) {
    if (first < end || seen.empty()) seen.assign(columns, {});
    end = first + rows;
  }

  std::uint64_t end = 0;                        // of the last chunk
  std::vector<reduction::SeenExtremes> seen{};  // of each column
  std::vector<std::byte> packed{};              // scratch memory
};

template <class T>
struct RowsFound final : OpaqueState {
  Simd simd = best_simd();
  CpuLane lane;
  std::vector<reduction::TileResult> results;  // of some tiles; kept to reuse the memory
  std::vector<ColumnNodes<T>> spare;           // nodes that were merged into others
  TileTree<ColumnNodes<T>, MergeColumns<T>> tree{MergeColumns<T>{&spare}};

  /// Returns a node whose values are to be assigned.
  ColumnNodes<T> fresh(std::size_t columns) {
    if (spare.empty()) return ColumnNodes<T>(columns);
    ColumnNodes<T> node = std::move(spare.back());
    spare.pop_back();
    return node;
  }
};

template <class T>
RowsFound<T>& rows_found_in(OpaquePartial& partial) {
  if (!partial) partial = std::make_unique<RowsFound<T>>();
  return static_cast<RowsFound<T>&>(*partial);
}

/// Results of tiles that are computed at a time. A GPU needs as many as keep it busy.
std::size_t results_at_once(DeviceKind kind) {
  return kind == DeviceKind::cpu ? 1024 : 65536;
}

/// The operator of reduce_columns().
template <IsElement T>
class ReduceColumns {
 public:
  using Input = Row<T>;
  using Partial = OpaquePartial;
  static constexpr Merge merge_order = Merge::by_place;
  static constexpr bool same_bits_everywhere = true;
  static constexpr std::string_view partial_name = "ooc.reduce_columns/1";
  static constexpr std::size_t partition_records(std::size_t row_bytes) {
    return column_tile_rows(row_bytes);
  }

  /// `rows`: at most so many, for the plan of memory.
  ReduceColumns(ReduceOptions options, std::size_t columns, std::uint64_t rows = unknown_rows)
      : options_(options), columns_(columns), rows_(rows) {}

  void consume(Stream& stream, DeviceRows<const T> in, Partial& partial) const {
    assert(in.columns == columns_ && in.first % tile_rows() == 0);
    auto& found = rows_found_in<T>(partial);
    found.lane.begin_chunk(in.first, in.rows(), columns_);
    const std::size_t tiles_at_once = divide_up(results_at_once(stream.kind()), columns_);
    const std::size_t rows_at_once = tiles_at_once * tile_rows();
    for (std::size_t row = 0; row < in.rows(); row += rows_at_once) {
      const lines::Lines columns{
          .data = reinterpret_cast<const std::byte*>(in.data + row * columns_),
          .count = columns_,
          .length = std::min(rows_at_once, in.rows() - row),
          .stride = 1,
          .step = columns_,
          .tile = tile_rows(),
          .phases = phases};
      found.results.resize(columns.tiles() * columns_);
      if (stream.kind() == DeviceKind::cpu) {
        reduce_lines_cpu(type, columns, found.simd, found.lane.seen, found.lane.packed,
                         found.results);
      } else {
        reduce_on_gpu(stream, columns, found.results);
      }
      add_tiles(found, columns, in.first + row);
    }
  }

  void merge(Partial& total, Partial& part) const {
    auto& all = rows_found_in<T>(total);
    auto& found = rows_found_in<T>(part);
    const std::size_t moved = found.tree.nodes().size();
    all.tree.absorb(found.tree);
    // A lane whose nodes never meet their siblings here would allocate in each step, and another
    // one would collect all that were merged.
    for (std::size_t i = 0; i < moved; ++i) found.spare.push_back(all.fresh(columns_));
  }

  std::vector<Statistics> result(Partial total) const {
    std::vector<Statistics> columns;
    columns.reserve(columns_);
    const auto root = rows_found_in<T>(total).tree.take_root();
    for (std::size_t c = 0; c < columns_; ++c) {
      columns.push_back(root ? reduction::statistics_of<T>((*root)[c], {}, options_)
                             : reduction::statistics_of_nothing<T>());
    }
    return columns;
  }

  std::string question() const {
    return std::string(name_of(type)) + " in " + std::to_string(columns_) + " columns" +
           (options_.nan == NanPolicy::omit ? " without NaN" : "");
  }

  void save(const Partial& total, std::vector<std::byte>& out) const {
    static const RowsFound<T> nothing;
    reduction::save_tree(tree_in(total, nothing), out, [&out](const ColumnNodes<T>& columns) {
      for (const Node<T>& node : columns) reduction::append_node(out, node);
    });
  }

  void load(std::span<const std::byte> in, Partial& total) const {
    ByteReader bytes(in);
    const auto take = [&] {
      ColumnNodes<T> columns;
      for (std::size_t c = 0; c < columns_; ++c) {
        columns.push_back(reduction::take_node<T>(bytes));
        if (columns.back().count == columns.front().count) continue;
        throw Error(ErrorKind::bad_input, "a saved partial result has columns of other lengths");
      }
      return columns;
    };
    reduction::load_tree(bytes, tile_rows(), columns_ * sizeof(Node<T>),
                         rows_found_in<T>(total).tree, take);
    bytes.require_end();
  }

  std::uint64_t records_in(const Partial& total) const {
    static const RowsFound<T> nothing;
    return reduction::records_in_tree(tree_in(total, nothing));
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> nodes_in(const Partial& total) const {
    static const RowsFound<T> nothing;
    return reduction::places_in_tree(tree_in(total, nothing));
  }

  /// The tree of all rows, with a node for each level, and the result; for each lane that of a
  /// step, and results of tiles.
  HostBytes host_bytes() const {
    const std::size_t node = columns_ * sizeof(Node<T>);
    const std::size_t levels = std::bit_width(divide_up(rows_, tile_rows())) + 1;
    const std::size_t results =
        std::max(columns_, results_at_once(DeviceKind::cpu)) * sizeof(reduction::TileResult);
    return {.fixed = columns_ * sizeof(Statistics) + levels * node,
            .per_lane = results + std::min(levels, most_levels_of_step) * node};
  }

 private:
  static constexpr ElementType type = element_type_of<T>();
  static constexpr std::uint64_t unknown_rows = std::uint64_t{1} << 32;
  static constexpr std::size_t most_levels_of_step = 4;

  std::size_t tile_rows() const { return column_tile_rows(columns_ * sizeof(T)); }

  static const auto& tree_in(const Partial& total, const RowsFound<T>& nothing) {
    return (total ? static_cast<const RowsFound<T>&>(*total) : nothing).tree;
  }

  static void reduce_on_gpu(Stream& stream, const lines::Lines& columns,
                            std::span<reduction::TileResult> results) {
    const Buffer on_device(stream.temporaries(), results.size_bytes());
    reduce_lines_cuda(stream, type, columns, on_device.as<reduction::TileResult>());
    stream.copy(results.data(), on_device.data(), results.size_bytes());
    stream.synchronize();
  }

  void add_tiles(RowsFound<T>& found, const lines::Lines& tiles, std::uint64_t first) const {
    for (std::size_t row = 0; row < tiles.length; row += tiles.tile) {
      const auto* const results = found.results.data() + row / tiles.tile * columns_;
      const std::size_t count = std::min(tiles.tile, tiles.length - row);
      ColumnNodes<T> columns = found.fresh(columns_);
      for (std::size_t c = 0; c < columns_; ++c) {
        columns[c] = reduction::node_of<T>(results[c], first + row, count);
      }
      found.tree.add((first + row) / tiles.tile, std::move(columns));
    }
  }

  ReduceOptions options_;
  std::size_t columns_;
  std::uint64_t rows_;
};

template <class T>
ReduceColumns<T> operator_for(const Source& source, const ReduceOptions& options) {
  if (options.exact) {
    throw Error(ErrorKind::usage, "the sums of columns are not rounded once",
                {.why = "only those of all elements are, by reduce()"});
  }
  const std::size_t columns = row_bytes_of(source, sizeof(T)) / sizeof(T);
  if (source.is_produced()) return {options, columns};
  return {options, columns, source.elements() / columns};
}

}  // namespace

Result<std::vector<Statistics>> reduce_columns(Coordinator& coordinator, const Source& source,
                                               const ReduceOptions& options,
                                               const PassOptions& wanted) {
  return visit(source.element(), [&]<class T>(std::type_identity<T>) {
    return fold(coordinator, operator_for<T>(source, options), source, wanted);
  });
}

Stats dry_run_reduce_columns(const Options& machine, DeviceKind device, const Source& source,
                             const ReduceOptions& options, const PassOptions& wanted) {
  return visit(source.element(), [&]<class T>(std::type_identity<T>) {
    const ReduceColumns<T> op = operator_for<T>(source, options);
    const auto inputs = inputs_of<Row<T>>(source);
    const Fold<ReduceColumns<T>> operation(op, facts_of(device), record_bytes_of(inputs));
    return dry_run_pass(machine, device, inputs.front(), {}, wanted, {}, &operation);
  });
}

Result<PartialResult<std::vector<Statistics>>> collect_reduce_columns(Coordinator& coordinator,
                                                                      const Source& section,
                                                                      const ReduceOptions& options,
                                                                      const PassOptions& wanted) {
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    return collect(coordinator, operator_for<T>(section, options), section, wanted);
  });
}

PartialResult<std::vector<Statistics>> load_reduce_columns(ElementType type, std::size_t columns,
                                                           const ReduceOptions& options,
                                                           std::span<const std::byte> saved) {
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return load_part(ReduceColumns<T>(options, columns), saved);
  });
}

}  // namespace ooc
