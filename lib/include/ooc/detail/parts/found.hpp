#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/partials/partials.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/error.hpp>
#include <ooc/stats.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace ooc::detail {

/// The records of a dataset that a part of a fold covers.
struct OOC_API Cover {
  std::uint64_t records = 0;          // of the whole dataset
  std::uint64_t partition = 1;        // records, at whose multiples ranges begin and end
  std::vector<RecordRange> ranges{};  // in their order; they do not touch

  /// Adds the ranges of another part of the same dataset. Throws Error(usage) if both have the same
  /// record, or if the datasets or the partitions differ.
  void add(const Cover& other);

  /// Throws Error(usage) that names the first missing records, unless all are covered.
  void require_whole() const;

  void save(std::vector<std::byte>& out) const;
  /// Reads a cover. Throws Error(bad_input) if it is not valid.
  static Cover load(ByteReader& in);
};

/// Returns what a pass over the inputs covers. Throws Error(usage) for sections that do not begin
/// and end with whole partitions of the operator.
OOC_API Cover cover_of(std::span<const PassInput> inputs, std::size_t partition);

/// Returns the records that a pass has processed: the first ones of the inputs, or those that the
/// outcome names. Throws Error(internal) unless these are whole partitions.
OOC_API Cover cover_of(std::span<const PassInput> inputs, std::size_t partition,
                       const OutcomeStats& outcome);

/// Throws Error(usage) for sections that do not begin and end with whole partitions.
OOC_API void require_whole_partitions(std::span<const PassInput> inputs, std::size_t partition);

/// Throws Error(bad_input) unless nodes of a tree, of which these are the levels and the indices,
/// cover these records.
OOC_API void require_nodes(const Cover& cover,
                           std::span<const std::pair<std::uint64_t, std::uint64_t>> nodes);

/// Throws Error(bad_input) unless the cover has `seen` records.
OOC_API void require_records(const Cover& cover, std::uint64_t seen);

template <class Op>
concept SavesPartials = requires(const Op& op, const typename Op::Partial& partial,
                                 typename Op::Partial& to, std::vector<std::byte>& out,
                                 std::span<const std::byte> in) {
  op.save(partial, out);
  op.load(in, to);
};
template <class Partial>
concept SavesItself = requires(const Partial& partial, Partial& to, std::vector<std::byte>& out,
                               std::span<const std::byte> in) {
  partial.save(out);
  to.load(in);
};

/// Returns the settings of an operator that decide what it finds, as a text.
template <class Op>
std::string question_of(const Op& op) {
  if constexpr (requires { op.question(); }) {
    return std::string(op.question());
  } else {
    return {};
  }
}

/// An operator whose partials can be saved: see SavableFold.
template <class Op>
concept Savable = (Merges<Op> && std::copy_constructible<Op> && merge_of<Op>() != Merge::in_order &&
                   requires { std::string_view(Op::partial_name); } &&
                   (SavesPartials<Op> || SavesItself<typename Op::Partial> ||
                    (std::is_trivially_copyable_v<typename Op::Partial> &&
                     !std::is_pointer_v<typename Op::Partial>)));

/// Says why an operator is not Savable.
template <class Op>
constexpr void explain_part() {
  static_assert(merge_of<Op>() != Merge::in_order,
                "an operator with Merge::in_order has no parts, since these merge in any order");
  static_assert(
      requires { std::string_view(Op::partial_name); },
      "an operator with parts has a name that changes when their bytes do: `static "
      "constexpr std::string_view partial_name = \"...\"`");
  static_assert(std::is_copy_constructible_v<Op>, "an operator with parts can be copied");
  constexpr bool is_saved = SavesPartials<Op> || SavesItself<typename Op::Partial> ||
                            (std::is_trivially_copyable_v<typename Op::Partial> &&
                             !std::is_pointer_v<typename Op::Partial>);
  static_assert(is_saved,
                "this Partial is not its bytes: its operator needs `void save(const Partial&, "
                "std::vector<std::byte>& out) const` and `void load(std::span<const std::byte>, "
                "Partial&) const`");
}

/// The findings of an operator in some of the records.
template <class Value>
class PartState {
 public:
  virtual ~PartState() = default;
  virtual std::string_view name() const = 0;
  virtual std::string question() const = 0;
  virtual void merge(PartState& other) = 0;  // of the same class
  virtual void save(std::vector<std::byte>& out) const = 0;
  virtual Value result() = 0;
};

/// Throws Error(usage) unless both are of the same operator, with the same settings.
OOC_API void require_same_question(std::string_view name, std::string_view question,
                                   std::string_view other_name, std::string_view other_question);

/// The findings of a fold in some of the records.
template <class Value>
class Found {
 public:
  Found(Cover cover, std::unique_ptr<PartState<Value>> state)
      : cover_(std::move(cover)), state_(std::move(state)) {}

  const Cover& cover() const noexcept { return cover_; }
  std::string question() const { return state_->question(); }

  /// Adds the findings in other records. Throws Error(usage) as PartialResult::merge() does.
  void merge(Found other) {
    require_state();
    other.require_state();
    require_same_question(state_->name(), state_->question(), other.state_->name(),
                          other.state_->question());
    const auto &mine = *state_, &others = *other.state_;
    if (typeid(mine) != typeid(others)) {
      throw Error(ErrorKind::usage, "parts of different operators do not merge");
    }
    cover_.add(other.cover_);
    state_->merge(*other.state_);
  }

  /// Returns the findings as bytes, for load_found().
  std::vector<std::byte> save() const {
    require_state();
    std::vector<std::byte> out;
    append_text(out, state_->name());
    append_text(out, state_->question());
    cover_.save(out);
    state_->save(out);
    return out;
  }

  /// Returns the result, and consumes the findings. Throws Error(usage) if records are missing.
  Value whole_result() && {
    require_state();
    cover_.require_whole();
    return std::move(*this).result();
  }

  /// Returns the result of the covered records, and consumes the findings.
  Value result() && {
    require_state();
    return std::exchange(state_, nullptr)->result();
  }

 private:
  void require_state() const {
    if (state_ == nullptr) throw Error(ErrorKind::usage, "a part was used that was moved from");
  }

  Cover cover_;
  std::unique_ptr<PartState<Value>> state_;
};

/// The findings of one operator in some of the records: nodes of a tree, or one total.
template <class Op>
class PartOf final : public PartState<ResultOf<Op>> {
 public:
  using Partial = typename Op::Partial;
  using Value = ResultOf<Op>;

  explicit PartOf(const Op& op) : op_(op) {
    static_assert(
        SavesPartials<Op> || !requires { &Op::save; },
        "an operator that saves has `void save(const Partial&, std::vector<std::byte>& "
        "out) const` and `void load(std::span<const std::byte>, Partial&) const`");
    static_assert(
        requires { question_of(op); } || !requires { &Op::question; },
        "question() of an operator is `std::string question() const`");
  }
  PartOf(const PartOf&) = delete;  // the tree refers to it
  PartOf& operator=(const PartOf&) = delete;

  void add(unsigned level, std::uint64_t index, Partial partial) {
    if constexpr (by_partition) {
      tree_.insert({level, index, std::move(partial)});
    } else {
      merge_partials(op_, total_, partial);
    }
  }

  std::string_view name() const override { return Op::partial_name; }
  std::string question() const override { return question_of(op_); }

  void merge(PartState<Value>& other) override {
    auto& from = static_cast<PartOf&>(other);
    if constexpr (by_partition) {
      for (auto& node : from.tree_.take_nodes()) tree_.insert(std::move(node));
    } else {
      merge_partials(op_, total_, from.total_);
    }
  }

  void save(std::vector<std::byte>& out) const override {
    if constexpr (by_partition) {
      std::vector<const Placed*> nodes;
      for (const Placed& node : tree_.nodes()) nodes.push_back(&node);
      std::ranges::sort(nodes, {}, &Placed::first_tile);
      append_bytes(out, std::uint64_t{nodes.size()});
      for (const Placed* node : nodes) {
        append_bytes(out, std::uint64_t{node->level});
        append_bytes(out, node->index);
        save_partial(node->node, out);
      }
    } else {
      save_partial(total_, out);
    }
  }

  void load(ByteReader& in, const Cover& cover) {
    if constexpr (by_partition) {
      const std::size_t count = in.take_count(3 * sizeof(std::uint64_t));
      std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
      std::vector<Partial> partials;
      for (std::size_t i = 0; i < count; ++i) {
        const auto level = in.take<std::uint64_t>();
        places.emplace_back(level, in.take<std::uint64_t>());
        partials.push_back(load_partial(in));
      }
      require_nodes(cover, places);
      for (std::size_t i = 0; i < count; ++i) {
        add(static_cast<unsigned>(places[i].first), places[i].second, std::move(partials[i]));
      }
    } else {
      total_ = load_partial(in);
      if constexpr (requires { op_.records_in(total_); }) {
        require_records(cover, op_.records_in(total_));
      }
      if constexpr (requires { op_.nodes_in(total_); }) {
        const auto nodes = op_.nodes_in(total_);
        if (!nodes.empty()) require_nodes(cover, nodes);
      }
    }
  }

  Value result() override {
    if constexpr (by_partition) {
      auto root = tree_.take_root();
      return result_of(op_, root ? std::move(*root) : Partial{});
    } else {
      return result_of(op_, std::move(total_));
    }
  }

 private:
  static constexpr bool by_partition = merge_of<Op>() == Merge::by_partition;

  struct MergePartials {
    const Op* op;
    void operator()(Partial& left, Partial& right) const { merge_partials(*op, left, right); }
  };

  void save_partial(const Partial& partial, std::vector<std::byte>& out) const {
    const std::size_t begin = out.size();
    append_bytes(out, std::uint64_t{0});  // placeholder for the length
    if constexpr (SavesPartials<Op>) {
      op_.save(partial, out);
    } else if constexpr (SavesItself<Partial>) {
      partial.save(out);
    } else {
      append_bytes(out, partial);
    }
    const std::uint64_t bytes = out.size() - begin - sizeof(std::uint64_t);
    std::memcpy(out.data() + begin, &bytes, sizeof(bytes));
  }

  Partial load_partial(ByteReader& in) const {
    ByteReader bytes(in.take_bytes(in.take<std::uint64_t>()));
    Partial partial{};
    if constexpr (SavesPartials<Op>) {
      op_.load(bytes.take_bytes(bytes.left()), partial);
    } else if constexpr (SavesItself<Partial>) {
      partial.load(bytes.take_bytes(bytes.left()));
    } else {
      partial = bytes.take<Partial>();
      bytes.require_end();
    }
    return partial;
  }

  using Tree = TileTree<Partial, MergePartials>;
  using Placed = typename Tree::Placed;

  const Op op_;
  Tree tree_{MergePartials{&op_}};  // by_partition
  Partial total_{};                 // else
};

/// Reads findings that Found::save() has saved. Throws Error as load_part() does.
template <Savable Op>
Found<ResultOf<Op>> load_found(const Op& op, std::span<const std::byte> saved) {
  ByteReader in(saved);
  const std::string name = take_text(in), question = take_text(in);
  require_same_question(Op::partial_name, question_of(op), name, question);
  Cover cover = Cover::load(in);
  auto state = std::make_unique<PartOf<Op>>(op);
  state->load(in, cover);
  in.require_end();
  return {std::move(cover), std::move(state)};
}

}  // namespace ooc::detail
