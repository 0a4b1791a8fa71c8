#include <nlohmann/json.hpp>

#include "answers/value_report.hpp"
#include "parts/merged.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"

namespace ooc_run {
namespace {

class DistinctQuestion final : public Question {
 public:
  explicit DistinctQuestion(const ooc::DistinctOptions& options)
      : Question("distinct"), options_(options) {}

  Task task(Sources sections) const override { return distinct_task(sections.front()); }
  Explanation explain(const RunSettings& settings, Sources sections) const override {
    return explain_distinct(settings, sections.front(), options_, true);
  }
  ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                     const ooc::PassOptions& wanted, ooc::PartFile& file) const override {
    return keep(file, ooc::collect_distinct(coordinator, sections.front(), options_, wanted));
  }

  void merge(const ooc::PartFile& file) override {
    found_.add(file,
               [&](const auto& saved) { return ooc::load_distinct(type(), options_, saved); });
  }
  void add_to(ooc::PartFile& file) const override { found_.add_to(file); }

  void require_taken(std::string_view option) const override {
    if (option != "tsv" || options_.counts == 0) refuse_without_bins(option);
  }
  MergedAnswer answer(const MergeRequest& request, const std::string& /*title*/,
                      const Interrupt& /*interrupt*/, Outcome& outcome) override {
    const ooc::Distinct found = found_.take();
    if (request.table) {
      outcome.document = tsv(found);
      return {};
    }
    return {.json = describe_distinct(found, options_), .text = table(found, type())};
  }

 protected:
  void describe(Json& json) const override { json["distinct"] = to_json(options_); }

 private:
  ooc::DistinctOptions options_;
  Merged<ooc::Distinct> found_{};
};

}  // namespace

Asked distinct_question(const ooc::DistinctOptions& options) {
  return std::make_unique<DistinctQuestion>(options);
}

Asked distinct_question(const Json& json) {
  return distinct_question(distinct_in(json.at("distinct")));
}

}  // namespace ooc_run
