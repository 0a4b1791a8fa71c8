#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <ooc/collect.hpp>
#include <ooc/coordinator.hpp>
#include <ooc/dtype.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"
#include "result/report.hpp"
#include "run/device_choice.hpp"
#include "run/explanation.hpp"

namespace ooc_run {

/// The elements that a question is about: of one source, or of two side by side.
struct AskedData {
  struct Stored {
    ooc::DType type{};
    std::string array{};                  // its name, if the file has several
    std::vector<std::uint64_t> places{};  // of the data, if they are selected
  };

  std::uint64_t offset = 0;
  std::uint64_t skip = 0;                // elements to leave out first
  std::optional<std::uint64_t> count{};  // elements to use; empty: all
  std::vector<Stored> stored{};          // of each source
};

using Sources = std::span<const ooc::Source>;

/// The answer to a question, for merge.
struct MergedAnswer {
  Json json{};
  std::string text{}, bars{};  // for people
  std::string warning{};       // about its meaning
};

/// A command that folds a dataset, with all settings that determine its result except the files.
/// Shards answer it in parts, which merge if they have the same question. Some questions take
/// several rounds: the shards of a round need what those before have found together. There is a
/// class for each kind of answer (see questions.hpp); it knows how a shard finds its part, and how
/// parts become a result.
class Question {
 public:
  explicit Question(std::string command) : command_(std::move(command)) {}
  virtual ~Question() = default;
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  const std::string& command() const noexcept { return command_; }
  const AskedData& data() const noexcept { return data_; }

  /// Sets the data. Call it before all functions below.
  virtual void set_data(AskedData data) { data_ = std::move(data); }

  /// Returns all settings as JSON. Parts of equal ones can be merged.
  Json settings() const;

  /// Returns the word for the records of parts: "values", or "rows".
  virtual std::string_view records() const { return "values"; }
  /// Returns the elements of a record.
  virtual std::uint64_t columns() const { return 1; }
  /// Returns the records of a tile. Shards divide the data between tiles.
  virtual std::uint64_t tile_records() const { return ooc::tile_elements; }

  // Rounds.

  /// Returns their number, for data that have elements. Throws ooc::Error for invalid settings.
  virtual std::size_t rounds() const { return 1; }
  /// Returns the reason for a single round.
  virtual std::string why_one_round() const {
    return "the result does not depend on the range of all data";
  }
  /// Takes what the rounds so far have found about so many records. Throws ooc::Error: `usage` if
  /// that does not cover all of them; `bad_input`.
  void take(std::span<const std::vector<std::byte>> found, std::uint64_t records);
  /// Returns the number of the round that comes next, from 1.
  std::size_t round() const noexcept { return round_; }
  /// True if no round comes next: those so far have found the answer.
  virtual bool is_answered() const { return false; }

  // A shard in its round. `sections` have the records of the shard in each source.

  /// Adapts itself to the data, and the sources to the question. Throws the ooc::Error that the
  /// command would throw before it reads, and Error(usage) for data that have no shards.
  virtual void set_sources(std::span<ooc::Source> sources);
  virtual ooc::Source section_of(const ooc::Source& source, const Shard& shard) const {
    return ooc::shard(source, shard.index, shard.count, tile_records());
  }
  virtual Task task(Sources sections) const = 0;
  virtual Explanation explain(const RunSettings& settings, Sources sections) const = 0;
  /// Finds the part of the sections, and adds it to the file.
  virtual ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                             const ooc::PassOptions& wanted, ooc::PartFile& file) const = 0;

  // Parts of one round, of all or of some records.

  /// Adds the part of a file. Throws ooc::Error.
  virtual void merge(const ooc::PartFile& file) = 0;
  /// Adds all parts together to a file.
  virtual void add_to(ooc::PartFile& file) const = 0;

  // The answer, for merge.

  /// Throws Error(usage) unless the answer is of the kind that an option shows: "plot", "tsv",
  /// "density" or "cumulative".
  virtual void require_taken(std::string_view option) const {
    if (option != "tsv") refuse_without_bins(option);
  }
  /// Prepares for an answer, before parts are read. Throws Error(usage) if the answer is found in a
  /// later round; Error(output) if the file of --plot cannot be written.
  virtual void prepare(const MergeRequest& /*request*/) {}
  /// Returns the answer of all parts together. With MergeRequest::table, sets the document of the
  /// outcome instead of the text. `title`: for pictures. Throws ooc::Error: `input_changed` if
  /// rounds have seen other values; `usage` if another round comes next.
  virtual MergedAnswer answer(const MergeRequest& request, const std::string& title,
                              const Interrupt& interrupt, Outcome& outcome) = 0;

 protected:
  /// Adds the settings of the kind.
  virtual void describe(Json& json) const = 0;
  /// Takes what one round has found.
  virtual void take_round(std::span<const std::byte> found, std::uint64_t records);

  ooc::ElementType type(std::size_t source = 0) const {
    return data_.stored.at(source).type.element;
  }
  /// Throws Error(usage): the parts are of a round before the last one. `which`: "round 2 of 3".
  [[noreturn]] void refuse_round(const std::string& which, const std::string& why) const;
  [[noreturn]] void refuse_first_round() const {
    refuse_round("the first of two rounds", "they have the range of the data, and no counts");
  }
  /// Throws Error(usage) for an option that takes bins.
  [[noreturn]] static void refuse_without_bins(std::string_view option);

 private:
  std::string command_;
  AskedData data_{};
  std::size_t round_ = 1;
};

/// Reads the question of parts. Throws Error(usage) for that of a program other than ooc-run, and
/// Error(bad_input) for a text that is not a question.
std::unique_ptr<Question> question_in(const std::string& json);

}  // namespace ooc_run
