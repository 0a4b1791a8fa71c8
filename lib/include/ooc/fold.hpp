#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/detail/operators/fold_job.hpp>
#include <ooc/detail/operators/fold_operation.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>
#include <ooc/records.hpp>
#include <ooc/stats.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

struct CallConsume {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const
      -> decltype(op.consume(std::forward<Args>(args)...));
};

/// How consume() fits, with an argument for each type of the Input.
template <class Op, class Records>
inline constexpr Fit consume_fit = Fit::none;
template <class Op, class... Inputs>
inline constexpr Fit consume_fit<Op, std::tuple<Inputs...>> =
    fit_of<CallConsume, Op, Stream&, DeviceInput<Inputs>&..., Changed<typename Op::Partial>>();

}  // namespace detail

/// Reduces a dataset to a value. consume() adds to its Partial, and never assigns it: it may be
/// called any number of times with one Partial, by default once for each partition, with
/// `Merge::unordered` for all chunks of a stream. `Partial{}` is neutral, and merge() associative.
/// The operator is const: all state of a pass is in Partials. check() tests these rules.
///
///     struct Sum {
///       using Input = float;
///       using Partial = double;
///       void consume(ooc::Stream&, ooc::DeviceChunk<const float> in, Partial& sum) const;
///       void merge(Partial& total, const Partial& part) const { total += part; }
///     };
///
/// consume() is called once for each partition of the data (1 MiB on the CPU, 8 MiB on a GPU; a
/// power of two records), each with a partial of its own, and the partials are merged in a fixed
/// tree by their place. So the result has the same bits in every run on one kind of device, also if
/// it rounds. Chunks come in no particular order: `in.first` says where each belongs.
///
/// An Input of ooc::Row<float> is a row of the data, as long as the shape of the source says; the
/// operator then takes DeviceRows<const float>. An Input of a std::tuple is read from several
/// sources (see zip()).
///
/// An operator may also have
///
///  -  `std::size_t before() const` and `after() const`: numbers of neighbours that it reads,
///     which stay the same during a pass. It then takes DeviceWindow<const float>, which says how
///     many there are: fewer at the ends of the data. The window is aligned to its elements only.
///     Sources are read from beginning to end, as one sequence of all files. Chunks have
///     50 times as many elements as there are neighbours, if memory allows;
///  -  `static constexpr Merge merge_order`: another order, for example `Merge::unordered`;
///  -  `static constexpr std::size_t partition_records`: another size of partitions; or a function
///     of this name, which returns it for records of so many bytes. It is a power of two. With
///     orders that have a partial for each stream, a call then gets one or several whole
///     partitions;
///  -  `static constexpr DeviceKind runs_on = DeviceKind::cpu`, if consume() is a plain loop:
///     with a coordinator that has a GPU, the pass then
///     throws Error(usage);
///  -  `static constexpr bool same_bits_everywhere = true`: what consume() and merge() compute has
///     the same bits on the CPU and on a GPU. Partitions then have the same size on both (1 MiB),
///     and both may share a pass (see Coordinator);
///  -  `Partial make_partial(Stream&) const`: partials with device memory of their own, and
///     `void reset(Stream&, Partial&) const`, which makes one neutral again, also one that
///     merge() has moved from, so that a pass allocates a few of them only;
///  -  `void finish(Stream&, std::span<Partial>) const`: copies such partials to the host: all
///     partials of the partitions of a step, or that of a stream after its last chunk;
///  -  `HostBytes host_bytes() const`: host memory of its partials and its result, if that is much.
///     Options::memory_bytes then counts it, and a pass that does not fit is refused;
///  -  instead of merge(), reset() and finish(), a Partial with members of these names: see
///     DeviceSums;
///  -  `Value result(Partial) const`: makes the value that fold() returns from the total. Without
///     it, fold() returns the total itself.
///
/// Threads: consume() is called by one thread for each stream, by several at a time, each with
/// Partials of its own; so are make_partial(), reset() and finish(). merge() is called by one
/// thread at a time, and result() by the thread that called fold(). Everything else that the
/// operator refers to must be safe to be used by several threads.
///
/// Several GPUs of a coordinator share a pass: consume() is called with streams of each, and
/// merge() gets partials of different ones. An operator with device memory of its own, or with
/// partials that merge() reads on a device, needs a coordinator with one GPU.
///
/// Lifetime: Partials are destroyed before fold() returns, except the one that fold() returns. A
/// Buffer in that one, or in the result, has memory of the coordinator's device and must be
/// destroyed before the coordinator.
template <class Op>
concept FoldOperator = detail::Reads<Op> && detail::Merges<Op> &&
    detail::consume_fit<Op, typename detail::RecordsOf<typename Op::Input>::Tuple>
== detail::Fit::right;

/// The base class of partials whose type is private to their operator. A null pointer is neutral.
struct OOC_API OpaqueState {
  virtual ~OpaqueState() = default;
};
/// A partial whose type is private to its operator.
using OpaquePartial = std::unique_ptr<OpaqueState>;

/// A Partial for sums on the device: an array of numbers, 0 at first, to which the operator adds.
/// It has merge(), reset() and finish(), so that an operator needs none. finish() copies the
/// numbers to the host, and merge() adds them there, element by element.
///
///     struct ColumnSums {
///       using Input = ooc::Row<float>;
///       using Partial = ooc::DeviceSums<double>;
///       std::size_t columns;
///       Partial make_partial(ooc::Stream& stream) const { return {stream, columns}; }
///       void consume(ooc::Stream& stream, ooc::DeviceRows<const float> in, Partial& sums) const {
///         add_columns<<<...>>>(in.data, in.rows(), in.columns, sums.data());  // your kernel
///       }
///     };
///     ooc::fold(coordinator, ColumnSums{columns}, points).value.values()
///
/// Large arrays suit `merge_order = Merge::unordered`: they are then copied once for each stream.
template <class T>
requires std::is_arithmetic_v<T>
class DeviceSums {
 public:
  /// Makes neutral sums, without numbers: the total of an empty source.
  DeviceSums() = default;
  DeviceSums(Stream& stream, std::size_t count) : values_(count) { reset(stream); }  ///< zeros

  /// Returns the numbers on the device, until finish(). Only work on the stream may use them.
  T* data() const noexcept { return memory_.template as<T>(); }
  std::size_t size() const noexcept { return values_.size(); }  ///< how many there are

  /// Returns the numbers on the host, after finish(): those of a partial, or of a fold's total.
  const std::vector<T>& values() const noexcept { return values_; }

  /// Makes all numbers 0 again.
  void reset(Stream& stream) {
    memory_ = Buffer(stream.temporaries(), size() * sizeof(T));
    stream.fill_zero(data(), memory_.size());
  }

  /// Copies the numbers of several partials to the host, and waits for all of them. Then they have
  /// no device memory, so a total may outlive the coordinator.
  static void finish(Stream& stream, std::span<DeviceSums> all) {
    for (DeviceSums& sums : all) {
      stream.copy(sums.values_.data(), sums.data(), sums.memory_.size());
    }
    stream.synchronize();
    for (DeviceSums& sums : all) sums.memory_ = Buffer();
  }
  /// Adds the numbers of another partial on the host, after finish() of both.
  void merge(const DeviceSums& part) {
    if (values_.size() < part.size()) values_.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) values_[i] += part.values_[i];
  }

  /// Writes the numbers of a total.
  void save(std::vector<std::byte>& out) const {
    for (const T& value : values_) detail::append_bytes(out, value);
  }
  /// Reads numbers that save() wrote. Throws Error(bad_input) if the last one is incomplete.
  void load(std::span<const std::byte> in) {
    detail::ByteReader bytes(in);
    values_.clear();
    while (bytes.left() != 0) values_.push_back(bytes.take<T>());
  }

 private:
  Buffer memory_;
  std::vector<T> values_;
};

namespace detail {

/// Says in one sentence why an operator is no FoldOperator.
template <class Op>
constexpr void explain_fold() {
  if constexpr (!Reads<Op>) {
    explain_input<Op>();
  } else if constexpr (!Gathers<Op>) {
    explain_merge<Op>();
  } else {
    constexpr Fit fit = consume_fit<Op, typename RecordsOf<typename Op::Input>::Tuple>;
    static_assert(fit != Fit::by_value,
                  "consume() takes its Partial by value, so what it adds is lost: write `void "
                  "consume(ooc::Stream&, ooc::DeviceChunk<const T> in, Partial& partial) const`");
    static_assert(fit != Fit::not_void,
                  "consume() returns something, which is lost: it adds to its Partial, `void "
                  "consume(ooc::Stream&, ooc::DeviceChunk<const T> in, Partial& partial) const`");
    static_assert(fit != Fit::not_const,
                  "consume() and merge() of an operator must be const: write `void consume(...) "
                  "const`, and keep what changes during a pass in the Partial");
    static_assert(fit != Fit::none,
                  "an operator of `Input = T` needs `void consume(ooc::Stream&, "
                  "ooc::DeviceChunk<const T> in, Partial& partial) const`, with "
                  "ooc::DeviceRows<const T> for rows, and an `in` for each type of a std::tuple");
    if constexpr (fit == Fit::right) explain_merge<Op>();
  }
}

template <class... Ops>
concept ShareInput = (std::same_as<typename std::tuple_element_t<0, std::tuple<Ops...>>::Input,
                                   typename Ops::Input> &&
                      ...);

template <class Op>
inline constexpr bool are_folds = FoldOperator<Op>;
template <class... Ops>
inline constexpr bool are_folds<std::tuple<Ops...>> =
    (FoldOperator<Ops> && ...) && ShareInput<Ops...>;

/// Says why one of several operators is no FoldOperator.
template <class... Ops>
constexpr void explain_folds(std::type_identity<std::tuple<Ops...>> /*operators*/) {
  if constexpr ((FoldOperator<Ops> && ...)) {
    constexpr bool share_input = ShareInput<Ops...>;
    static_assert(share_input, "operators that share a pass have one Input");
  } else {
    (explain_fold<Ops>(), ...);
  }
}
template <class Op>
constexpr void explain_folds(std::type_identity<Op> /*operator*/) {
  explain_fold<Op>();
}

/// Folds inputs with several operators in one pass: see fold().
template <class... Ops>
Result<std::tuple<ResultOf<Ops>...>> fold_inputs(Coordinator& coordinator,
                                                 const std::tuple<Ops...>& operators,
                                                 std::span<const PassInput> inputs,
                                                 const PassOptions& wanted) {
  if (is_divided(coordinator, wanted)) return fold_divided(coordinator, operators, inputs, wanted);
  Reservation pass = begin_pass(coordinator);
  return with_folds(coordinator, operators, inputs, [&](auto&... folds) {
    CompositeOperation together({&folds...});
    Stats stats = run_pass(coordinator, pass, inputs, together, wanted);
    return Result<std::tuple<ResultOf<Ops>...>>{{folds.take()...}, std::move(stats)};
  });
}

/// The result of a pass that does not compile.
template <class Op>
struct AnyResult {
  using type = Result<int>;
};
template <HasPartial Op>
struct AnyResult<Op> {
  using type = Result<typename Op::Partial>;
};
template <class... Ops>
struct AnyResult<std::tuple<Ops...>> {
  using type = Result<std::tuple<typename AnyResult<Ops>::type...>>;
};

}  // namespace detail

/// Folds a source, or several that are zipped, with an operator, on the calling thread and those of
/// the coordinator, which runs one pass at a time; the operator and the source must stay until it
/// returns. A source of a known type must hold the elements of the operator's Input (see
/// ElementOf); one opened as plain bytes is read as that Input, unless it is a .npy file. Throws
/// Error, and Error(interrupted) if the pass was stopped (see PassOptions::keep_partial).
///
///     const ooc::Source prices = ooc::open("prices.f32");
///     const auto [sum, stats] = ooc::fold(coordinator, Sum{}, prices);
template <FoldOperator Op, detail::PassSource From>
[[nodiscard]] Result<detail::ResultOf<Op>> fold(Coordinator& coordinator, const Op& op,
                                                const From& from, const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  if (detail::is_divided(coordinator, wanted)) {
    if constexpr (detail::Savable<Op>) {
      auto [found, stats] = detail::fold_divided(coordinator, std::tuple<Op>(op), inputs, wanted);
      return {std::get<0>(std::move(found)), std::move(stats)};
    } else {
      throw detail::is_not_divided(coordinator.ranks(), detail::merge_of<Op>() == Merge::in_order);
    }
  }
  detail::Reservation pass = detail::begin_pass(coordinator);
  detail::Fold<Op> operation(op, coordinator.device().facts(), detail::record_bytes_of(inputs));
  operation.begin_with(inputs);
  Stats stats = detail::run_pass(coordinator, pass, inputs, operation, wanted);
  return {operation.take(), std::move(stats)};
}

/// Folds a source with several operators of one Input in one pass. Each result has the same bits as
/// if the operator ran alone, since its partitions are the same. If one operator fails, all do.
///
///     auto [found, stats] = ooc::fold(coordinator, std::tuple{Sum{}, Reduction<float>{}}, prices);
///     auto& [sum, statistics] = found;
template <FoldOperator Op, FoldOperator... Others, detail::PassSource From>
requires detail::ShareInput<Op, Others...>
[[nodiscard]] Result<std::tuple<detail::ResultOf<Op>, detail::ResultOf<Others>...>> fold(
    Coordinator& coordinator, const std::tuple<Op, Others...>& operators, const From& from,
    const PassOptions& wanted = {}) {
  const auto inputs = detail::inputs_of<typename Op::Input>(from);
  return detail::fold_inputs(coordinator, operators, inputs, wanted);
}

/// Rejects invalid arguments: a compiler error says what is wrong with the operator or the data.
template <class Op, class From>
requires(!detail::are_folds<Op> || !detail::PassSource<From>) typename detail::AnyResult<Op>::type
    fold(Coordinator& /*coordinator*/, const Op& /*op*/, const From& /*from*/,
         const PassOptions& /*wanted*/ = {}) {
  if constexpr (detail::PassSource<From>) {
    detail::explain_folds(std::type_identity<Op>{});
  } else {
    detail::explain_source<From>();
  }
  throw Error(ErrorKind::internal, "this does not compile");
}

}  // namespace ooc
