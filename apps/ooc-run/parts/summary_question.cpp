#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "answers/bin_table.hpp"
#include "answers/histogram_report.hpp"
#include "answers/reduce_report.hpp"
#include "parts/bin_rounds.hpp"
#include "parts/merged.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"

namespace ooc_run {
namespace {

class SummaryQuestion final : public Question {
 public:
  SummaryQuestion(std::string command, std::optional<ooc::ReduceOptions> reduce,
                  std::optional<ooc::HistogramOptions> bins)
      : Question(std::move(command)), reduce_(reduce) {
    if (bins) bins_.emplace(*std::move(bins));
  }

  std::size_t rounds() const override { return bins_ ? bins_->rounds(type()) : 1; }

  void set_sources(std::span<ooc::Source> sources) override {
    if (bins_) bins_->require_range(type(), sources.front().is_empty());
  }
  Task task(Sources sections) const override {
    const ooc::Source& section = sections.front();
    if (choose_bins()) return histogram_task(section, bins_->planned());
    if (!bins_) return reduce_task(section, *reduce_);
    if (!reduce_) return histogram_task(section, bins_->bins());
    return summary_task(section, {*reduce_, bins_->bins()});
  }
  Explanation explain(const RunSettings& settings, Sources sections) const override {
    const ooc::Source& section = sections.front();
    if (choose_bins()) return explain_histogram(settings, section, bins_->planned());
    if (!bins_) return explain_reduce(settings, section, *reduce_);
    if (!reduce_) return explain_histogram(settings, section, bins_->bins());
    return explain_summary(settings, section, {*reduce_, bins_->bins()});
  }
  ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                     const ooc::PassOptions& wanted, ooc::PartFile& file) const override {
    const ooc::Source& section = sections.front();
    if (choose_bins()) {
      return keep(file, ooc::collect_bins(coordinator, section, bins_->asked(), wanted));
    }
    if (!bins_) return keep(file, ooc::collect_reduce(coordinator, section, *reduce_, wanted));
    if (!reduce_) {
      return keep(file, ooc::collect_histogram(coordinator, section, bins_->bins(), wanted));
    }
    auto [parts, stats] =
        ooc::collect_summary(coordinator, section, {*reduce_, bins_->bins()}, wanted);
    file.add(std::get<0>(parts));
    file.add(std::get<1>(parts));
    return std::move(stats);
  }

  void merge(const ooc::PartFile& file) override {
    if (choose_bins()) return bins_->merge(type(), file);
    if (reduce_) {
      statistics_.add(file,
                      [&](const auto& saved) { return ooc::load_reduce(type(), *reduce_, saved); });
    }
    if (bins_) {
      histogram_.add(
          file,
          [&](const auto& saved) { return ooc::load_histogram(type(), bins_->bins(), saved); },
          reduce_ ? 1 : 0);
    }
  }
  void add_to(ooc::PartFile& file) const override {
    if (bins_) bins_->add_to(file);
    statistics_.add_to(file);
    histogram_.add_to(file);
  }

  void require_taken(std::string_view option) const override {
    if (!bins_) refuse_without_bins(option);
  }
  void prepare(const MergeRequest& request) override {
    if (choose_bins()) refuse_first_round();
    if (!bins_) return;
    picture_.emplace(request.run.side_files, bins_->asked(), request.picture);
    picture_->begin();
  }
  MergedAnswer answer(const MergeRequest& request, const std::string& title,
                      const Interrupt& interrupt, Outcome& outcome) override {
    MergedAnswer answer;
    if (bins_) answer = answer_of_bins(request, title, interrupt, outcome);
    if (!reduce_) return answer;
    const ooc::Statistics statistics = statistics_.take();
    require_places_in_data(statistics);
    Json described = describe_statistics(statistics, *reduce_);
    if (bins_) {
      described["histogram"] = ooc_run::answer(std::exchange(answer.json, {}), {}, {});
      if (!answer.bars.empty()) answer.text = "\n";
    }
    answer.json = std::move(described);
    answer.text = table(statistics, type(), *reduce_) + answer.text;
    answer.warning = why_nan(statistics, *reduce_);
    return answer;
  }

 protected:
  void describe(Json& json) const override {
    if (reduce_) json["reduce"] = to_json(*reduce_);
    if (bins_) json["histogram"] = to_json(bins_->asked());
  }
  void take_round(std::span<const std::byte> found, std::uint64_t records) override {
    bins_->take(type(), found, records);
  }

 private:
  bool choose_bins() const { return bins_ && bins_->choose_bins(type()); }

  MergedAnswer answer_of_bins(const MergeRequest& request, const std::string& title,
                              const Interrupt& interrupt, Outcome& outcome) {
    ooc::Histogram histogram = histogram_.take();
    bins_->require_unchanged(histogram);
    MergedAnswer answer{.json = describe_histogram(histogram, bins_->asked()),
                        .bars = picture_->bars(histogram)};
    note_bins(histogram, bins_->asked(), type(), outcome);
    picture_->write(histogram, title, interrupt, outcome);
    if (request.table) print_as_table(std::move(histogram), *request.table, outcome);
    return answer;
  }

  std::optional<ooc::ReduceOptions> reduce_;
  std::optional<BinRounds> bins_{};
  Merged<ooc::Statistics> statistics_{};
  Merged<ooc::Histogram> histogram_{};
  std::optional<HistogramPicture> picture_{};
};

}  // namespace

Asked summary_question(std::string command, std::optional<ooc::ReduceOptions> reduce,
                       std::optional<ooc::HistogramOptions> bins) {
  return std::make_unique<SummaryQuestion>(std::move(command), reduce, std::move(bins));
}

Asked summary_question(const Json& json) {
  std::optional<ooc::ReduceOptions> reduce;
  std::optional<ooc::HistogramOptions> bins;
  const std::string command = json.at("command").get<std::string>();
  if (command == "reduce") reduce = reduce_in(json.at("reduce"));
  if (command == "histogram" || json.contains("histogram"))
    bins = histogram_in(json.at("histogram"));
  return summary_question(command, reduce, bins);
}

}  // namespace ooc_run
