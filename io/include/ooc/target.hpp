#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/dtype.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <tuple>
#include <vector>

namespace ooc {

/// The output of a pass: elements or structs of one type, in row-major order.
///
///     ooc::map(coordinator, op, source, {"halved.npy"});
struct OOC_API Target {
  std::filesystem::path path;  ///< .npy if its extension says so, else raw
  /// Type and byte order in the file; bf16 only in raw files. Empty: the type of the operator's
  /// output, in this machine's byte order.
  std::optional<DType> type{};
  std::vector<std::uint64_t> shape{};  ///< for .npy; empty: one dimension
  bool replace = false;                ///< replace an existing file; otherwise that is an error

  /// True if the file is to have a .npy header.
  bool is_npy() const { return ending_of(path) == ".npy"; }

  /// Returns the type. Throws Error(usage) if it is empty.
  const DType& known_type() const;
};

namespace detail {

template <class Output>
struct TargetsFor {
  using type = Target;
};
template <class... Outputs>
struct TargetsFor<std::tuple<Outputs...>> {
  using type = std::array<Target, sizeof...(Outputs)>;
};

}  // namespace detail

/// The targets of an operator: a Target or, if its Output is a std::tuple, a std::array with a
/// Target for each element.
template <class Op>
using TargetsOf = typename detail::TargetsFor<typename Op::Output>::type;

}  // namespace ooc
