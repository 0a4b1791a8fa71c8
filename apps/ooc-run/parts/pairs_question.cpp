#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram_2d.hpp>
#include <utility>

#include "answers/pairs_report.hpp"
#include "cli/terminal.hpp"
#include "draw/heat_map.hpp"
#include "draw/picture_file.hpp"
#include "parts/merged.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"

namespace ooc_run {
namespace {

/// The sources are those of both axes, or one with two columns or fields.
class PairsQuestion final : public Question {
 public:
  explicit PairsQuestion(PairSettings pairs) : Question("hist2d"), asked_(pairs), bins_(pairs) {}

  std::string_view records() const override { return "pairs"; }
  std::uint64_t columns() const override { return asked_.columns.value_or(1); }
  std::uint64_t tile_records() const override {
    return asked_.columns ? ooc::pair_tile_rows(columns() * ooc::size_of(type()))
                          : ooc::tile_elements;
  }

  std::size_t rounds() const override {
    return ooc::histogram_2d_passes(saved(asked_.x, 0), saved(asked_.y, 1));
  }

  void set_sources(std::span<ooc::Source> sources) override {
    const ooc::Source& source = sources.front();
    const auto [x, y] = axes_of(sources, asked_);
    ooc::dry_run_histogram_2d({}, ooc::DeviceKind::cpu, x, y);
    if (has_columns() && !data().stored.front().type.is_struct()) {
      asked_.columns = bins_.columns = source.columns();
    }
    if (rounds() == 1 || !source.is_empty()) return;
    throw ooc::Error(ooc::ErrorKind::usage, "no data have no range for bins",
                     {.hint = "give it: --ranges LO:HI"});
  }
  ooc::Source section_of(const ooc::Source& source, const Shard& shard) const override {
    return asked_.columns ? ooc::shard_rows(source, shard.index, shard.count, tile_records())
                          : ooc::shard(source, shard.index, shard.count, tile_records());
  }
  Task task(Sources sections) const override { return histogram_2d_task(sections, 1); }
  Explanation explain(const RunSettings& settings, Sources sections) const override {
    PairSettings planned = bins_;
    for (AxisSettings* const axis : {&planned.x, &planned.y}) {
      const bool is_known = axis->bins.range || !axis->bins.edges.empty();
      if (!is_known) axis->bins.range = {0, 1};
    }
    const auto [x, y] = axes_of(sections, planned);
    return explain_histogram_2d(settings, sections, x, y, 1);
  }
  ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                     const ooc::PassOptions& wanted, ooc::PartFile& file) const override {
    const auto [x, y] = axes_of(sections, bins_);
    if (choose_bins()) return keep(file, ooc::collect_pair_bins(coordinator, x, y, wanted));
    return keep(file, ooc::collect_histogram_2d(coordinator, x, y, wanted));
  }

  void merge(const ooc::PartFile& file) override {
    const ooc::SavedAxis x = saved(bins_.x, 0), y = saved(bins_.y, 1);
    if (choose_bins()) {
      return ranges_.add(file, [&](const auto& bytes) { return ooc::load_pair_bins(x, y, bytes); });
    }
    found_.add(file, [&](const auto& bytes) { return ooc::load_histogram_2d(x, y, bytes); });
  }
  void add_to(ooc::PartFile& file) const override {
    ranges_.add_to(file);
    found_.add_to(file);
  }

  void require_taken(std::string_view option) const override {
    if (option == "plot" || option == "tsv") return;
    throw ooc::Error(ooc::ErrorKind::usage, fmt::format("--{}: is not for pairs", option),
                     {.hint = "--tsv alone has the counts"});
  }
  void prepare(const MergeRequest& request) override {
    if (choose_bins()) refuse_first_round();
    const SideFiles& files = request.run.side_files;
    if (files.plot) picture_.emplace(*files.plot, files.replace);
  }
  MergedAnswer answer(const MergeRequest& request, const std::string& title,
                      const Interrupt& interrupt, Outcome& outcome) override {
    const ooc::Histogram2d found = found_.take();
    if (chosen_) ooc::require_unchanged(*chosen_, found);
    if (picture_) draw(request.picture, title, found, interrupt, outcome);
    if (request.table) {
      outcome.document = tsv(found);
      return {};
    }
    if (request.run.output.json) return {.json = describe_histogram_2d(found)};
    if (found.counts.empty()) return {};
    return {.text = draw_heat_map(found, describe_terminal(STDOUT_FILENO),
                                  request.picture.logarithmic_counts)};
  }

 protected:
  void describe(Json& json) const override {
    Json& pairs = json["pairs"];
    if (has_columns()) pairs["axes"] = {asked_.x.column, asked_.y.column};
    if (asked_.columns) pairs["columns"] = std::to_string(*asked_.columns);
    pairs["x"] = to_json(asked_.x.bins);
    pairs["y"] = to_json(asked_.y.bins);
  }
  void take_round(std::span<const std::byte> found, std::uint64_t records) override {
    auto bins = ooc::load_pair_bins(saved(asked_.x, 0), saved(asked_.y, 1), found);
    if (bins.records() != records) {
      throw ooc::Error(ooc::ErrorKind::bad_input, "its bins are of other data");
    }
    chosen_ = std::move(bins).result();
    bins_.x.bins = chosen_->x;
    bins_.y.bins = chosen_->y;
  }

 private:
  /// True in a round that finds the ranges.
  bool choose_bins() const { return rounds() > 1 && !chosen_; }
  bool has_columns() const { return !asked_.x.column.empty(); }

  static std::pair<ooc::PairAxis, ooc::PairAxis> axes_of(Sources sections,
                                                         const PairSettings& pairs) {
    return {{sections.front(), pairs.x.column, pairs.x.bins},
            {sections.back(), pairs.y.column, pairs.y.bins}};
  }

  /// Returns an axis without its data: of `source`, if there are two.
  ooc::SavedAxis saved(const AxisSettings& axis, std::size_t source) const {
    const auto& stored = data().stored;
    const ooc::DType& type = stored[std::min(source, stored.size() - 1)].type;
    if (!type.is_struct()) return {type.element, axis.bins};
    const auto field = std::ranges::find(type.fields, axis.column, &ooc::Field::name);
    if (field == type.fields.end()) throw bad_question("it names a field that is not there");
    return {field->element, axis.bins};
  }

  /// Returns what an axis shows: "price" for a field, "column 3" for a column, or `name`.
  std::string title_of(const AxisSettings& axis, const std::string& name) const {
    if (axis.column.empty()) return name;
    return asked_.columns ? "column " + axis.column : axis.column;
  }

  void draw(const PictureStyle& style, const std::string& title, const ooc::Histogram2d& found,
            const Interrupt& interrupt, Outcome& outcome) {
    if (found.counts.empty()) {
      outcome.notes.push_back("no picture: there are no pairs");
      return;
    }
    const HeatMap map{.title = style.title.value_or(title),
                      .x_title = title_of(asked_.x, "x"),
                      .y_title = title_of(asked_.y, "y"),
                      .logarithmic = style.logarithmic_counts};
    write_plot(
        *picture_, "histogram", [&] { return plot_heat_map(found, map); }, interrupt, outcome);
  }

  PairSettings asked_, bins_;  // `bins_`: with the ranges that the first round has found
  std::optional<ooc::ChosenPairBins> chosen_{};
  Merged<ooc::ChosenPairBins> ranges_{};
  Merged<ooc::Histogram2d> found_{};
  std::optional<PictureFile> picture_{};
};

}  // namespace

Asked pairs_question(const PairSettings& pairs) {
  return std::make_unique<PairsQuestion>(pairs);
}

Asked pairs_question(const Json& json) {
  PairSettings pairs;
  const Json& asked = json.at("pairs");
  const bool has_axes = asked.contains("axes"), has_rows = asked.contains("columns");
  const bool are_structs = ooc::parse_dtype(json.at("dtype").get<std::string>()).is_struct();
  const bool is_clear = has_axes ? has_rows != are_structs : !has_rows && !are_structs;
  if (!is_clear || json.contains("second") == has_axes) throw bad_question("its pairs are unclear");
  if (has_axes) {
    pairs.x.column = asked.at("axes").at(0).get<std::string>();
    pairs.y.column = asked.at("axes").at(1).get<std::string>();
  }
  if (has_rows) {
    pairs.columns = integer_in_text(asked.at("columns"));
    require_columns(*pairs.columns);
    for (const std::string& column : {pairs.x.column, pairs.y.column}) {
      if (integer_in_text(column) >= *pairs.columns) throw bad_question("it has no such column");
    }
  }
  pairs.x.bins = histogram_in(asked.at("x"));
  pairs.y.bins = histogram_in(asked.at("y"));
  return pairs_question(pairs);
}

}  // namespace ooc_run
