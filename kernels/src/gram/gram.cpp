#include <ooc/gram.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/partials/partials.hpp>
#include <ooc/detail/parts/resumable_job.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "gemm/gemm.hpp"
#include "gram/rows.hpp"

namespace ooc {

using namespace detail;

namespace {

/// A rectangle of the matrix. Those of a matrix cover what is on and above its diagonal.
struct Tile {
  std::size_t row, rows, column, columns;

  bool is_on_diagonal() const { return row == column; }
};

/// How the work is divided, which decides the bits of the result: block b of rows is added to sum b
/// % sums, after block b - sums.
struct Division {
  std::size_t block_rows = 0;  // a power of two
  std::size_t sums = 1;        // matrices; they are added at the end
  std::vector<Tile> tiles{};
};

Division divide(DeviceKind device, std::size_t columns) {
  const bool is_cpu = device == DeviceKind::cpu;
  // A block of the CPU fits in a core's cache; one of a GPU is worth the calls for it.
  const std::size_t block_bytes = is_cpu ? 2 * MiB : 32 * MiB;
  const std::size_t most_rows = is_cpu ? 16384 : 65536, least_rows = 256;
  const std::size_t rows = block_bytes / (columns * sizeof(double));
  Division division{.block_rows = std::bit_floor(std::clamp(rows, least_rows, most_rows))};
  const std::size_t width = is_cpu ? 256 : 1024;
  for (std::size_t row = 0; row < columns; row += width) {
    const std::size_t tile_rows = std::min(width, columns - row);
    const std::size_t tile_width = is_cpu ? width : columns;
    for (std::size_t column = row; column < columns; column += tile_width) {
      division.tiles.push_back({row, tile_rows, column, std::min(tile_width, columns - column)});
    }
  }
  // Lanes of the CPU work on so many tiles at a time. A GPU has one tile at a time.
  constexpr std::size_t lanes_at_work = 64;
  if (is_cpu) division.sums = std::bit_ceil(divide_up(lanes_at_work, division.tiles.size()));
  return division;
}

/// Numbers in the memory of a device.
class DeviceNumbers {
 public:
  DeviceNumbers() = default;
  DeviceNumbers(Device& device, Stream& stream, std::vector<double> values)
      : values_(std::move(values)) {
    if (device.kind() == DeviceKind::cpu) return;
    memory_ = Buffer(device.device_memory(), bytes());
    stream.copy(memory_.data(), values_.data(), bytes());
    stream.synchronize();
  }

  double* data() { return memory_.size() != 0 ? memory_.as<double>() : values_.data(); }

  std::vector<double> take(Device& device) {
    if (memory_.size() != 0) {
      const std::unique_ptr<Stream> stream = device.make_stream();
      stream->copy(values_.data(), memory_.data(), bytes());
      stream->synchronize();
      memory_ = Buffer();
    }
    return std::move(values_);
  }

 private:
  std::size_t bytes() const { return values_.size() * sizeof(double); }

  std::vector<double> values_{};
  Buffer memory_{};
};

/// Adds the products of blocks of rows. Each lane converts a block, and adds it to one tile after
/// another, each of which takes the blocks in the order of the data. So lanes follow one another
/// over the tiles.
class AddProducts final : public Operation {
 public:
  struct Question {
    ElementType type;
    std::size_t columns;
    std::uint64_t first_row;        // in the whole source
    std::vector<double> centers{};  // grams::Center; empty: those of a gram matrix
    bool is_centered = false;
  };

  /// `device`: null for a dry run.
  AddProducts(DeviceKind kind, Device* device, Question asked)
      : kind_(kind),
        device_(device),
        asked_(std::move(asked)),
        division_(divide(kind, asked_.columns)) {}

  std::size_t partition() const noexcept override { return division_.block_rows; }
  bool in_order() const noexcept override { return true; }
  HostBytes host_bytes() const noexcept override {
    const bool is_cpu = kind_ == DeviceKind::cpu;
    const std::size_t numbers = division_.sums * sum_size() + division_.block_rows;
    return {.fixed = (numbers + asked_.columns) * sizeof(double),
            .per_lane = is_cpu ? block_bytes() : 0};
  }
  /// Memory on a GPU, for so many lanes.
  std::uint64_t device_bytes(std::size_t lanes) const {
    if (kind_ == DeviceKind::cpu) return 0;
    return host_bytes().fixed + lanes * (block_bytes() + workspace_bytes());
  }

  void prepare(std::size_t lanes, std::size_t /*steps*/) override {
    const std::unique_ptr<Stream> stream = device_->make_stream();
    const auto on_device = [&](std::vector<double> values) {
      return DeviceNumbers(*device_, *stream, std::move(values));
    };
    sums_ = on_device(std::vector<double>(division_.sums * sum_size()));
    if (asked_.is_centered) {
      centers_ = on_device(asked_.centers);
      ones_ = on_device(std::vector<double>(division_.block_rows, 1.0));
    }
    turns_ = std::vector<PartitionOrder>(division_.sums * division_.tiles.size());
    lanes_ = std::vector<Lane>(lanes);
    if (kind_ == DeviceKind::cpu) {
      constexpr std::size_t one_thread = 1;  // for each product: their number would change the bits
      shared_gemm_ = gemm::make_openblas_gemm(ElementType::f8, one_thread, lanes);
    }
  }

  void begin(std::size_t index, Stream& stream) override {
    if (kind_ == DeviceKind::cpu) return;
    Lane& lane = lanes_[index];
    lane.workspace = Buffer(stream.temporaries(), workspace_bytes());
    lane.gemm = gemm::make_cublas_gemm(
        Precision::f64, ElementType::f8,
        {static_cast<std::byte*>(lane.workspace.data()), lane.workspace.size()});
  }

  void process(std::size_t lane, Stream& stream, const StepRecords& in,
               const StepResults& /*out*/) override {
    const std::size_t row_bytes = asked_.columns * size_of(asked_.type);
    for (std::size_t row = 0; row < in.count; row += division_.block_rows) {
      const grams::Rows rows{.type = asked_.type,
                             .data = in.inputs.front().data + row * row_bytes,
                             .count = std::min(division_.block_rows, in.count - row),
                             .columns = asked_.columns};
      const std::uint64_t block = (in.first - asked_.first_row + row) / division_.block_rows;
      if (asked_.type == ElementType::f8 && !asked_.is_centered) {
        add(lane, stream, block, reinterpret_cast<const double*>(rows.data), rows.count);
        continue;
      }
      const Buffer memory(stream.temporaries(), block_bytes());
      fill(stream, rows, memory.as<double>());
      add(lane, stream, block, memory.as<double>(), rows.count);
    }
  }

  void end(std::size_t index, Stream& stream) override {
    stream.synchronize();
    lanes_[index] = {};
  }

  void abort() noexcept override {
    for (PartitionOrder& turns : turns_) turns.abort();
  }

  /// Returns the matrix of all rows.
  std::vector<double> take(std::uint64_t rows) {
    const std::size_t columns = asked_.columns, square = columns * columns;
    std::vector<double> all = sums_.take(*device_);
    all.resize(division_.sums * sum_size());  // a pass over no rows has not prepared them
    for (std::size_t i = sum_size(); i < all.size(); ++i) all[i % sum_size()] += all[i];
    const std::vector<double> totals(all.begin() + static_cast<std::ptrdiff_t>(square),
                                     all.begin() + static_cast<std::ptrdiff_t>(sum_size()));
    all.resize(square);
    if (division_.sums > 1) all.shrink_to_fit();
    if (asked_.is_centered) make_covariances(all, totals, static_cast<double>(rows));
    mirror(all);
    return all;
  }

 private:
  struct Lane {
    Buffer workspace{};
    std::unique_ptr<gemm::Gemm> gemm{};  // of a GPU
  };

  /// Numbers of a sum: the matrix, and the totals of the columns behind it.
  std::size_t sum_size() const { return asked_.columns * (asked_.columns + 1); }
  std::size_t block_bytes() const { return division_.block_rows * asked_.columns * sizeof(double); }
  static std::size_t workspace_bytes() {
    constexpr std::uint64_t plenty = 1 * GiB;
    return gemm::workspace_bytes(DeviceKind::cuda, plenty);
  }

  void fill(Stream& stream, const grams::Rows& rows, double* out) {
    const auto* const centers =
        asked_.is_centered ? reinterpret_cast<const std::byte*>(centers_.data()) : nullptr;
    if (kind_ == DeviceKind::cpu) {
      fill_rows_cpu(rows, centers, out);
    } else {
      fill_rows_cuda(stream, rows, centers, out);
    }
  }

  /// Adds the products of a block of rows to all tiles.
  void add(std::size_t lane, Stream& stream, std::uint64_t block, const double* rows,
           std::size_t count) {
    const std::size_t sum = block % division_.sums, turn = block / division_.sums;
    for (std::size_t i = 0; i < division_.tiles.size(); ++i) {
      PartitionOrder& turns = turns_[sum * division_.tiles.size() + i];
      turns.wait_for(turn);
      add(lane, stream, division_.tiles[i], rows, count, sums_.data() + sum * sum_size());
      // The next block comes on another stream.
      if (kind_ == DeviceKind::cuda) stream.synchronize();
      turns.through(turn);
    }
  }

  void add(std::size_t lane, Stream& stream, const Tile& tile, const double* rows,
           std::size_t count, double* sum) {
    const std::size_t columns = asked_.columns;
    gemm::Gemm& gemm = kind_ == DeviceKind::cpu ? *shared_gemm_ : *lanes_[lane].gemm;
    const auto in = [](const double* data, std::size_t stride) {
      return gemm::Matrix<const std::byte>{reinterpret_cast<const std::byte*>(data), stride};
    };
    const auto to = [columns](double* data) {
      return gemm::Matrix<std::byte>{reinterpret_cast<std::byte*>(data), columns};
    };
    constexpr bool accumulate = true;
    auto transposed = in(rows + tile.row, columns);
    transposed.is_transposed = true;
    gemm.multiply(stream, transposed, in(rows + tile.column, columns),
                  to(sum + tile.row * columns + tile.column), {tile.rows, tile.columns, count},
                  accumulate);
    if (!asked_.is_centered || !tile.is_on_diagonal()) return;
    gemm.multiply(stream, in(ones_.data(), count), in(rows + tile.row, columns),
                  to(sum + columns * columns + tile.row), {1, tile.rows, count}, accumulate);
  }

  /// Makes covariances, above the diagonal, of the sums of products of distances from the centers.
  /// `totals`: the sums of distances.
  void make_covariances(std::vector<double>& matrix, const std::vector<double>& totals,
                        double rows) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const std::size_t columns = asked_.columns;
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t j = i; j < columns; ++j) {
        double& value = matrix[i * columns + j];
        if (!std::isfinite(totals[i]) || !std::isfinite(totals[j])) {
          value = nan;
        } else if (std::isfinite(value)) {  // else it has overflowed
          value = (value - totals[i] * (totals[j] / rows)) / (rows - 1);
        }
      }
    }
  }

  /// Copies what is above the diagonal below it, in squares that fit in a cache.
  void mirror(std::vector<double>& matrix) const {
    constexpr std::size_t side = 64;
    const std::size_t columns = asked_.columns;
    for (std::size_t row = 0; row < columns; row += side) {
      for (std::size_t column = row; column < columns; column += side) {
        for (std::size_t i = row; i < std::min(row + side, columns); ++i) {
          for (std::size_t j = std::max(i, column); j < std::min(column + side, columns); ++j) {
            matrix[j * columns + i] = matrix[i * columns + j];
          }
        }
      }
    }
  }

  DeviceKind kind_;
  Device* device_;
  Question asked_;
  Division division_;
  DeviceNumbers sums_{}, centers_{}, ones_{};
  std::vector<PartitionOrder> turns_{};  // of each tile of each sum
  std::vector<Lane> lanes_{};
  std::unique_ptr<gemm::Gemm> shared_gemm_{};  // of the CPU
};

std::array<PassInput, 1> rows_of(const Source& source) {
  return visit(source.element(),
               [&]<class T>(std::type_identity<T>) { return inputs_of<Row<T>>(source); });
}

/// Returns the number of columns, and refuses what gram() refuses.
std::size_t columns_of(const Source& source, const GramOptions& options) {
  rows_of(source);
  const std::uint64_t columns = *source.columns();
  if (columns == 0) {
    throw Error(ErrorKind::bad_input, source.name() + ": its rows have no elements");
  }
  if (columns > max_gram_columns) {
    throw Error(ErrorKind::bad_input,
                source.name() + ": has " + std::to_string(columns) + " columns",
                {.why = "the matrix has their square, which stays in memory",
                 .hint = "at most " + std::to_string(max_gram_columns) + " are possible"});
  }
  if (!options.covariance) return columns;
  if (source.is_produced()) {
    throw Error(ErrorKind::usage, source.name() + ": can be read once",
                {.why = "the first rows are read before the others", .hint = "save it to a file"});
  }
  if (*source.rows() < 2) {
    throw Error(ErrorKind::bad_input,
                source.name() + ": has " + (*source.rows() == 0 ? "no rows" : "one row") +
                    ", and no covariance",
                {.why = "a covariance is divided by the number of rows minus one"});
  }
  return columns;
}

template <class T>
grams::Center<T> center_of(const Statistics& column) {
  if constexpr (std::is_same_v<grams::Center<T>, double>) {
    const double least = column.min.value();
    return least == column.max.value() ? least : *column.mean;
  } else {
    const auto mean = static_cast<int128>(*column.mean);
    return static_cast<T>(
        std::clamp(mean, std::get<int128>(column.min), std::get<int128>(column.max)));
  }
}

/// Returns the centers of all columns: their means in the first rows. Each is 8 bytes.
std::vector<double> centers_of(Coordinator& coordinator, const Source& source,
                               const PassOptions& wanted) {
  const std::size_t rows = column_tile_rows(*source.columns() * size_of(source.element()));
  const Source first = section_rows(source, 0, std::min<std::uint64_t>(rows, *source.rows()));
  const auto found = reduce_columns(coordinator, first, {}, {.stop = wanted.stop}).value;
  std::vector<double> centers(found.size());
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    static_assert(sizeof(grams::Center<T>) == sizeof(double));
    for (std::size_t c = 0; c < found.size(); ++c) {
      const grams::Center<T> center = center_of<T>(found[c]);
      std::memcpy(&centers[c], &center, sizeof center);
    }
  });
  return centers;
}

AddProducts::Question question_about(const Source& source, const GramOptions& options) {
  const std::size_t columns = columns_of(source, options);
  const std::size_t row_bytes = columns * source.element_bytes();
  return {.type = source.element(),
          .columns = columns,
          .first_row = source.bytes_before() / row_bytes,
          .is_centered = options.covariance};
}

}  // namespace

Result<std::vector<double>> gram(Coordinator& coordinator, const Source& source,
                                 const GramOptions& options, const PassOptions& wanted) {
  constexpr bool is_merged_in_order = true;
  AddProducts::Question asked = question_about(source, options);
  if (is_divided(coordinator, wanted)) {
    throw is_not_divided(coordinator.ranks(), is_merged_in_order);
  }
  if (options.covariance) asked.centers = centers_of(coordinator, source, wanted);
  Reservation pass = begin_pass(coordinator);
  Device& device = coordinator.device();
  AddProducts operation(device.kind(), &device, std::move(asked));
  const auto inputs = rows_of(source);
  Stats stats = run_pass(coordinator, pass, inputs, operation, without_keep_partial(wanted));
  return {operation.take(source.rows().value_or(0)), std::move(stats)};
}

Stats dry_run_gram(const Options& machine, DeviceKind device, const Source& source,
                   const GramOptions& options, const PassOptions& wanted) {
  const AddProducts operation(device, nullptr, question_about(source, options));
  Stats stats = dry_run_pass(machine, device, rows_of(source).front(), {}, wanted, {}, &operation);
  stats.layout.device_bytes += operation.device_bytes(stats.layout.streams);
  return stats;
}

}  // namespace ooc
