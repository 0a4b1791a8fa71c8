// Operators that are wrong. tests/lib/wrong_operators_test.py compiles this file, and expects one
// error for each of them, with the words in the comment behind it.

#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/scan.hpp>
#include <ooc/split.hpp>
#include <ooc/write.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace wrong {

using ooc::DeviceChunk;
using ooc::DeviceRows;
using ooc::DeviceSpan;
using ooc::Stream;

struct Reads {
  using Input = float;
};
struct Consumes : Reads {
  using Partial = double;
  void consume(Stream&, DeviceChunk<const float>, double&) const {}
};
struct Sum : Consumes {
  void merge(double& total, const double& part) const { total += part; }
};
struct Halve : Reads {
  using Output = float;
  void transform(Stream&, DeviceChunk<const float>, DeviceSpan<float>) const {}
};
struct Scans : Reads {
  using Output = double;
  using Carry = double;
};
struct Begins : Scans {
  void begin(Stream&, DeviceChunk<const float>, DeviceSpan<double>, double*) const {}
};
struct Joins : Begins {
  void join(Stream&, const double*, const double*, double*) const {}
};

// fold()
struct NoInput {};            // `using Input = float;`
struct NoPartial : Reads {};  // `using Partial = double;`
struct PartialTypo : Reads {  // `using Partial = double;`
  using partial = double;
};
struct NoConsume : Reads {  // needs `void consume(ooc::Stream&, ooc::DeviceChunk<const T>
  using Partial = double;
  void merge(double& total, const double& part) const { total += part; }
};
struct ConsumeTypo : NoConsume {  // needs `void consume(ooc::Stream&, ooc::DeviceChunk<const T>
  void consum(Stream&, DeviceChunk<const float>, double&) const {}
};
struct ConsumeByValue : Sum {  // consume() takes its Partial by value
  void consume(Stream&, DeviceChunk<const float> in, double sum) const { sum += in[0]; }
};
struct ConsumeConvertedByValue : Sum {  // consume() takes its Partial by value
  void consume(Stream&, DeviceSpan<const float> in, float sum) const { sum += in[0]; }
};
struct ConsumeAnyByValue : Sum {  // consume() takes its Partial by value
  template <class In, class Partial>
  void consume(Stream&, const In& in, Partial sum) const {
    sum += in[0];
  }
};
struct ConsumeNotConst : Sum {  // consume() and merge() of an operator must be const
  void consume(Stream&, DeviceChunk<const float>, double&) {}
};
struct ConsumeReturns : Sum {  // consume() returns something, which is lost
  double consume(Stream&, DeviceChunk<const float> in, const double& sum) const {
    return sum + in[0];
  }
};
struct ConsumeOfAnotherType : Sum {  // needs `void consume(ooc::Stream&, ooc::DeviceChunk<const T>
  void consume(Stream&, DeviceChunk<const double>, double&) const {}
};
struct ConsumeChangesInput : Sum {  // needs `void consume(ooc::Stream&, ooc::DeviceChunk<const T>
  void consume(Stream&, DeviceSpan<float>, double&) const {}
};
struct ConsumeWithoutStream : Sum {  // needs `void consume(ooc::Stream&, ooc::DeviceChunk<const T>
  void consume(DeviceChunk<const float>, double&) const {}
};
struct ConsumeOfAnotherPartial : Sum {  // needs `void consume(ooc::Stream&, ooc::DeviceChunk<const
  void consume(Stream&, DeviceChunk<const float>, float&) const {}
};
struct ConsumeOneOfTwo : Sum {  // an `in` for each type of a std::tuple
  using Input = std::tuple<float, float>;
};
struct NoMerge : Consumes {};  // needs `void merge(Partial& total, const Partial& part) const`
struct MergeTypo : Consumes {  // needs `void merge(Partial& total, const Partial& part) const`
  void merg(double& total, const double& part) const { total += part; }
};
struct MergeByValue : Consumes {  // merge() takes its total by value
  void merge(double total, const double& part) const { total += part; }
};
struct MergeNotConst : Consumes {  // must be const: write `void merge(
  void merge(double& total, const double& part) { total += part; }
};
struct MergeReturns : Consumes {  // merge() returns something, which is lost
  double merge(const double& total, const double& part) const { return total + part; }
};
struct MergeOfAnotherType : Consumes {  // needs `void merge(Partial& total, const Partial& part)
  void merge(float& total, const float& part) const { total += part; }
};
struct MapWithoutMerge : Reads {  // needs `void merge(Partial& total, const Partial& part) const`
  using Partial = std::map<int, int>;
  void consume(Stream&, DeviceChunk<const float>, Partial&) const {}
};
struct NoDefaultPartial : Reads {  // needs a default constructor
  struct Partial {
    explicit Partial(int) {}
  };
  void consume(Stream&, DeviceChunk<const float>, Partial&) const {}
  void merge(Partial&, const Partial&) const {}
};
struct BoolInput : Sum {  // not bool (use std::uint8_t)
  using Input = bool;
};
struct BoolRows : Sum {  // not bool (use std::uint8_t)
  using Input = ooc::Row<bool>;
};
struct StringInput : Sum {  // what memcpy() may not copy
  using Input = std::string;
};
struct PointerInput : Sum {  // a pointer
  using Input = const float*;
};
struct WideInput : Sum {  // the Input of an operator is a number
  using Input = long double;
};
struct ConstInput : Sum {  // the Input of an operator is a number
  using Input = const float;
};
struct MakePartialAlone : Sum {  // `Partial make_partial(ooc::Stream&) const`
  double make_partial() const { return 0; }
};
struct ResetByValue : Sum {  // `void reset(ooc::Stream&, Partial& partial) const`
  void reset(Stream&, double partial) const { partial = 0; }
};
struct FinishOne : Sum {  // `void finish(ooc::Stream&, std::span<Partial>) const`
  void finish(Stream&, double&) const {}
};
struct ResultNotConst : Sum {  // `Value result(Partial total) const`
  int result(double total) { return static_cast<int>(total); }
};
struct PartIsConst : Sum {  // `void merge(Partial& total, Partial& part) const`
  static constexpr auto merge_order = ooc::Merge::by_place;
};
struct ThreeRecords : Sum {  // partition_records must be a power of two
  static constexpr std::size_t partition_records = 3;
};
struct Doubles : Sum {  // operators that share a pass have one Input
  using Input = double;
  void consume(Stream&, DeviceChunk<const double>, double&) const {}
};
struct PathAsSource : Sum {};  // ooc::open(path)

// collect()
struct Nameless : Sum {};  // `static constexpr std::string_view partial_name =
struct InOrder : Sum {     // an operator with Merge::in_order has no parts
  static constexpr std::string_view partial_name = "in-order";
  static constexpr auto merge_order = ooc::Merge::in_order;
};
struct Unsaved : Reads {  // needs `void save(const Partial&, std::vector<std::byte>& out)
  using Partial = std::vector<int>;
  static constexpr std::string_view partial_name = "unsaved";
  void consume(Stream&, DeviceChunk<const float>, Partial&) const {}
  void merge(Partial&, const Partial&) const {}
};

// map()
struct NoOutput : Reads {  // `using Output = float;`
  void transform(Stream&, DeviceChunk<const float>, DeviceSpan<float>) const {}
};
struct NoTransform : Reads {  // needs `void transform(ooc::Stream&, ooc::DeviceChunk<const T>
  using Output = float;
};
struct TransformNotConst : NoTransform {  // transform() of an operator must be const
  void transform(Stream&, DeviceChunk<const float>, DeviceSpan<float>) {}
};
struct TransformReturns : NoTransform {  // transform() returns something
  float transform(Stream&, DeviceChunk<const float>, DeviceSpan<float>) const { return 0; }
};
struct TransformToConst : NoTransform {  // ooc::DeviceChunk<U> out) const`
  void transform(Stream&, DeviceChunk<const float>, DeviceSpan<double>) const {}
};
struct BoolOutput : Halve {  // the Output of an operator is a number
  using Output = bool;
};
struct GatherByValue : Sum {  // transform() takes its Partial by value
  using Output = float;
  void transform(Stream&, DeviceChunk<const float>, DeviceSpan<float>, double) const {}
};
struct GatherWithoutMerge : Reads {  // needs `void merge(Partial& total,
  using Output = float;
  using Partial = double;
  void transform(Stream&, DeviceChunk<const float>, DeviceSpan<float>, double&) const {}
};

// filter()
struct NoSelect : NoTransform {};  // needs `void select(ooc::Stream&, ooc::DeviceChunk<const T> in
struct SelectNotConst : NoTransform {  // select() of an operator must be const
  void select(Stream&, DeviceChunk<const float>, DeviceSpan<float>, std::uint64_t*) {}
};
struct SelectReturns : NoTransform {  // select() returns something, which is lost
  std::size_t select(Stream&, DeviceChunk<const float>, DeviceSpan<float>, std::uint64_t*) const {
    return 0;
  }
};
struct SelectCountsInt : NoTransform {  // std::uint64_t* kept) const`
  void select(Stream&, DeviceChunk<const float>, DeviceSpan<float>, int*) const {}
};

// split()
struct NoAssign {  // needs `void assign(ooc::Stream&, ooc::DeviceChunk<const T> in
  using Input = float;
};
struct AssignNotConst : NoAssign {  // assign() of an operator must be const
  void assign(Stream&, DeviceChunk<const float>, DeviceSpan<std::uint16_t>) {}
};
struct AssignReturns : NoAssign {  // assign() returns something, which is lost
  int assign(Stream&, DeviceChunk<const float>, DeviceSpan<std::uint16_t>) const { return 0; }
};

// scan()
struct NoCarry : NoTransform {};  // `using Carry = double;`
struct StringCarry : Joins {      // memcpy() may copy
  using Carry = std::string;
};
struct NoBegin : Scans {};       // needs `void begin(ooc::Stream&, ooc::DeviceChunk<const T> in
struct NoJoin : Begins {};       // needs `void join(ooc::Stream&, const Carry* before
struct NoFinish : Joins {};      // needs `void finish(ooc::Stream&, ooc::DeviceChunk<U> out
struct FinishNotConst : Joins {  // begin(), join() and finish() of an operator must be const
  void finish(Stream&, DeviceSpan<double>, const double*) {}
};

// write()
struct NoProduce : NoTransform {};  // needs `void produce(ooc::Stream&, ooc::DeviceChunk<U> out)
struct ProduceNotConst : NoTransform {  // produce() of an operator must be const
  void produce(Stream&, DeviceChunk<float>) {}
};
struct ProduceReturns : NoTransform {  // produce() returns something, which is lost
  float produce(Stream&, DeviceChunk<float>) const { return 0; }
};

template <class... Ops>
void fold_each(ooc::Coordinator& coordinator, const ooc::Source& source) {
  ((void)ooc::fold(coordinator, Ops(), source), ...);
}
template <class... Ops>
void map_each(ooc::Coordinator& coordinator, const ooc::Source& source) {
  ((void)ooc::map(coordinator, Ops(), source, {"out.npy"}), ...);
}

void use(ooc::Coordinator& coordinator, const ooc::Source& source) {
  fold_each<NoInput, NoPartial, PartialTypo, NoConsume, ConsumeTypo, ConsumeByValue,
            ConsumeConvertedByValue, ConsumeAnyByValue, ConsumeNotConst, ConsumeReturns,
            ConsumeOfAnotherType, ConsumeChangesInput, ConsumeWithoutStream,
            ConsumeOfAnotherPartial, ConsumeOneOfTwo, NoMerge, MergeTypo, MergeByValue,
            MergeNotConst, MergeReturns, MergeOfAnotherType, MapWithoutMerge, NoDefaultPartial,
            BoolInput, BoolRows, StringInput, PointerInput, WideInput, ConstInput, MakePartialAlone,
            ResetByValue, FinishOne, ResultNotConst, PartIsConst, ThreeRecords>(coordinator,
                                                                                source);
  (void)ooc::fold(coordinator, std::tuple<Sum, Doubles>(), source);
  (void)ooc::fold(coordinator, PathAsSource(), "values.f32");
  (void)ooc::collect(coordinator, Nameless(), source);
  (void)ooc::collect(coordinator, InOrder(), source, {.checksum = true});
  (void)ooc::collect(coordinator, Unsaved(), source);
  map_each<NoOutput, NoTransform, TransformNotConst, TransformReturns, TransformToConst, BoolOutput,
           GatherByValue, GatherWithoutMerge>(coordinator, source);
  (void)ooc::filter(coordinator, NoSelect(), source, {.path = "out.npy"});
  (void)ooc::filter(coordinator, SelectNotConst(), source, {"out.npy"}, {.checksum = true});
  (void)ooc::filter(coordinator, SelectReturns(), source, {"out.npy"});
  (void)ooc::filter(coordinator, SelectCountsInt(), source, {"out.npy"});
  (void)ooc::split(coordinator, NoAssign(), source, {});
  (void)ooc::split(coordinator, AssignNotConst(), source, {}, {.checksum = true});
  (void)ooc::split(coordinator, AssignReturns(), source, {});
  (void)ooc::scan(coordinator, NoCarry(), source, {"out.npy"});
  (void)ooc::scan(coordinator, StringCarry(), source, {"out.npy"});
  (void)ooc::scan(coordinator, NoBegin(), source, {"out.npy"});
  (void)ooc::scan(coordinator, NoJoin(), source, {"out.npy"});
  (void)ooc::scan(coordinator, NoFinish(), source, {"out.npy"});
  (void)ooc::scan(coordinator, FinishNotConst(), source, {"out.npy"});
  (void)ooc::write(coordinator, NoProduce(), {"out.npy"}, 10);
  (void)ooc::write(coordinator, ProduceNotConst(), {"out.npy"}, 10);
  (void)ooc::write(coordinator, ProduceReturns(), {"out.npy"}, 10);
}

}  // namespace wrong
