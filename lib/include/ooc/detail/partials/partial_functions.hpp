#pragma once

#include <ooc/detail/inputs/signature.hpp>
#include <ooc/detail/partials/operator_settings.hpp>
#include <ooc/device.hpp>

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

// The functions of an operator, or of its Partial, that make, merge and finish partials.

namespace ooc::detail {

struct CallMerge {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const -> decltype(op.merge(std::forward<Args>(args)...));
};

/// How an operator's own merge() fits.
template <HasPartial Op>
inline constexpr Fit merge_fit =
    fit_of<CallMerge, Op, Changed<typename Op::Partial>, typename Op::Partial&>();

/// Partials with a merge() of their own, such as DeviceSums. Excludes std::map, whose merge() skips
/// equal keys.
template <class Partial>
concept MergesItself = !requires {
  typename Partial::node_type;
  typename Partial::mapped_type;
}
&&requires(Partial& partial) {
  partial.merge(partial);
};

/// An operator with partials, which begin as Partial{}.
template <class Op>
concept Gathers = HasPartial<Op> && std::default_initializable<typename Op::Partial> &&
    std::move_constructible<typename Op::Partial>;

/// An operator with a merge() of its own, or with partials that bring one.
template <class Op>
concept Merges = Gathers<Op> &&(merge_fit<Op> == Fit::right ||
                                (merge_fit<Op> == Fit::none && MergesItself<typename Op::Partial>));

/// Says why the partials of an operator do not merge.
template <class Op>
constexpr void explain_merge() {
  if constexpr (!HasPartial<Op>) {
    static_assert(is_right<Op>, "an operator says what it gathers: `using Partial = double;`");
  } else if constexpr (!Gathers<Op>) {
    static_assert(
        is_right<Op>,
        "the Partial of an operator begins as Partial{}, and is moved: it needs a default "
        "constructor and a move constructor");
  } else {
    constexpr Fit fit = merge_fit<Op>;
    static_assert(fit != Fit::by_value,
                  "merge() takes its total by value, so what it adds is lost: write `void "
                  "merge(Partial& total, const Partial& part) const`");
    static_assert(fit != Fit::not_void,
                  "merge() returns something, which is lost: it adds to its total, `void "
                  "merge(Partial& total, const Partial& part) const`");
    static_assert(fit != Fit::not_const,
                  "consume() and merge() of an operator must be const: write `void merge(Partial& "
                  "total, const Partial& part) const`");
    static_assert(
        fit != Fit::none,
        "an operator needs `void merge(Partial& total, const Partial& part) const`, which "
        "adds a part to a total");
  }
}

struct CallReset {
  template <class Op, class... Args>
  auto operator()(Op& op, Args&&... args) const -> decltype(op.reset(std::forward<Args>(args)...));
};

/// Refuses a function of a known name with another signature, which would not be called.
template <class Op>
constexpr void require_known_functions() {
  using Partial = typename Op::Partial;
  static_assert(
      requires(const Op& op, Stream& stream) { Partial(op.make_partial(stream)); } ||
          !requires { &Op::make_partial; },
      "make_partial() of an operator is `Partial make_partial(ooc::Stream&) const`");
  static_assert(
      requires(const Op& op, Stream& stream, std::span<Partial> all) { op.finish(stream, all); } ||
          requires { typename Op::Carry; } || !requires { &Op::finish; },
      "finish() of an operator is `void finish(ooc::Stream&, std::span<Partial>) const`");
  static_assert(
      requires(const Op& op, Partial&& total) { op.result(std::move(total)); } ||
          !requires { &Op::result; },
      "result() of an operator is `Value result(Partial total) const`");
  static_assert(
      requires(const Op& op, const Partial& total) { op.check(total); } ||
          !requires { &Op::check; },
      "check() of an operator is `void check(const Partial& total) const`");
}

/// Merges a partial into the one on its left, by the operator's function or that of the partials.
template <class Op>
void merge_partials(const Op& op, typename Op::Partial& left, typename Op::Partial& right) {
  if constexpr (merge_fit<Op> == Fit::right) {
    op.merge(left, right);
  } else {
    left.merge(right);
  }
}

/// Returns the result of an operator: its result() of the total, or the total itself. If the
/// operator has a check(), calls it with the total first, and throws its exceptions.
template <class Op>
auto result_of(const Op& op, typename Op::Partial total) {
  if constexpr (requires { op.check(std::as_const(total)); }) op.check(std::as_const(total));
  if constexpr (requires { op.result(std::move(total)); }) {
    return op.result(std::move(total));
  } else {
    return total;
  }
}

template <class Op>
using ResultOf = decltype(result_of(std::declval<const Op&>(), typename Op::Partial{}));

/// Returns a new partial of an operator.
template <class Op>
typename Op::Partial make_partial(const Op& op, Stream& stream) {
  if constexpr (requires { op.make_partial(stream); }) {
    return op.make_partial(stream);
  } else {
    return typename Op::Partial{};
  }
}

// Member functions of partials; those of the operator take precedence.

/// Finishes partials, for an operator that does.
template <class Op>
void finish_partials(const Op& op, Stream& stream, std::span<typename Op::Partial> partials) {
  if constexpr (requires { op.finish(stream, partials); }) {
    op.finish(stream, partials);
  } else if constexpr (requires { Op::Partial::finish(stream, partials); }) {
    Op::Partial::finish(stream, partials);
  }
}

template <class Op>
concept ResetsPartials = requires(const Op& op, Stream& stream, typename Op::Partial& partial) {
  op.reset(stream, partial);
};
template <class Op>
inline constexpr bool can_reset = ResetsPartials<Op> ||
                                  requires(Stream& stream, typename Op::Partial& partial) {
  partial.reset(stream);
};

/// Makes a partial neutral again.
template <class Op>
void reset_partial(const Op& op, Stream& stream, typename Op::Partial& partial) {
  if constexpr (ResetsPartials<Op>) {
    op.reset(stream, partial);
  } else {
    partial.reset(stream);
  }
}

}  // namespace ooc::detail
