#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <ooc/weighted_histogram.hpp>
#include <utility>

#include "answers/histogram_report.hpp"
#include "answers/weights_report.hpp"
#include "parts/bin_rounds.hpp"
#include "parts/merged.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"

namespace ooc_run {
namespace {

/// The sources are the values and their weights.
class WeightsQuestion final : public Question {
 public:
  explicit WeightsQuestion(ooc::HistogramOptions bins)
      : Question("histogram"), bins_(std::move(bins)) {}

  std::size_t rounds() const override { return bins_.rounds(type()); }

  void set_sources(std::span<ooc::Source> sources) override {
    ooc::dry_run_weighted_histogram({}, ooc::DeviceKind::cpu, sources[0], sources[1],
                                    bins_.asked());
    bins_.require_range(type(), sources.front().is_empty());
  }
  Task task(Sources sections) const override {
    if (choose_bins()) return histogram_task(sections.front(), bins_.planned());
    return weighted_histogram_task(sections, bins_.bins());
  }
  Explanation explain(const RunSettings& settings, Sources sections) const override {
    if (choose_bins()) return explain_histogram(settings, sections.front(), bins_.planned());
    return explain_weighted_histogram(settings, sections, bins_.bins());
  }
  ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                     const ooc::PassOptions& wanted, ooc::PartFile& file) const override {
    const ooc::Source &section = sections[0], &weights = sections[1];
    if (choose_bins()) {
      return keep(file, ooc::collect_bins(coordinator, section, bins_.asked(), wanted));
    }
    return keep(
        file, ooc::collect_weighted_histogram(coordinator, section, weights, bins_.bins(), wanted));
  }

  void merge(const ooc::PartFile& file) override {
    if (choose_bins()) return bins_.merge(type(), file);
    found_.add(file, [&](const auto& saved) {
      return ooc::load_weighted_histogram(type(), type(1), bins_.bins(), saved);
    });
  }
  void add_to(ooc::PartFile& file) const override {
    bins_.add_to(file);
    found_.add_to(file);
  }

  void require_taken(std::string_view option) const override {
    if (option == "plot" || option == "tsv") return;
    throw ooc::Error(ooc::ErrorKind::usage, fmt::format("--{}: is not for weights", option),
                     {.hint = "--tsv alone has the sums"});
  }
  void prepare(const MergeRequest& request) override {
    if (choose_bins()) refuse_first_round();
    picture_.emplace(request.run.side_files, bins_.asked(), request.picture);
    picture_->begin();
  }
  MergedAnswer answer(const MergeRequest& request, const std::string& title,
                      const Interrupt& interrupt, Outcome& outcome) override {
    ooc::WeightedHistogram found = found_.take();
    bins_.require_unchanged(found.histogram);
    MergedAnswer answer{.json = describe_weighted(found, bins_.asked()),
                        .bars = picture_->bars(found),
                        .warning = why_not_finite(found)};
    note_bins(found.histogram, bins_.asked(), type(), outcome);
    picture_->write(found, title, interrupt, outcome);
    if (request.table) print_as_table(std::move(found), outcome);
    return answer;
  }

 protected:
  void describe(Json& json) const override { json["weights"] = to_json(bins_.asked()); }
  void take_round(std::span<const std::byte> found, std::uint64_t records) override {
    bins_.take(type(), found, records);
  }

 private:
  bool choose_bins() const { return bins_.choose_bins(type()); }

  BinRounds bins_;
  Merged<ooc::WeightedHistogram> found_{};
  std::optional<HistogramPicture> picture_{};
};

}  // namespace

Asked weights_question(const ooc::HistogramOptions& bins) {
  return std::make_unique<WeightsQuestion>(bins);
}

Asked weights_question(const Json& json) {
  if (!json.contains("second")) throw bad_question("it has no weights");
  return weights_question(histogram_in(json.at("weights")));
}

}  // namespace ooc_run
