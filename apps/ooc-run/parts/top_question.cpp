#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>

#include "answers/value_report.hpp"
#include "parts/merged.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"

namespace ooc_run {
namespace {

/// Throws Error(bad_input) if a value is behind the data, which happens only if a part was forged.
void require_places_in_data(const ooc::Top& found) {
  const auto is_behind = [&](const ooc::TopValue& each) { return each.index >= found.count; };
  if (std::ranges::none_of(found.values, is_behind)) return;
  throw ooc::Error(ooc::ErrorKind::bad_input,
                   "a saved partial result has its values behind the data");
}

class TopQuestion final : public Question {
 public:
  explicit TopQuestion(const ooc::TopOptions& options) : Question("top"), options_(options) {}

  Task task(Sources sections) const override { return top_task(sections.front()); }
  Explanation explain(const RunSettings& settings, Sources sections) const override {
    return explain_top(settings, sections.front(), options_);
  }
  ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                     const ooc::PassOptions& wanted, ooc::PartFile& file) const override {
    return keep(file, ooc::collect_top(coordinator, sections.front(), options_, wanted));
  }

  void merge(const ooc::PartFile& file) override {
    found_.add(file, [&](const auto& saved) { return ooc::load_top(type(), options_, saved); });
  }
  void add_to(ooc::PartFile& file) const override { found_.add_to(file); }

  MergedAnswer answer(const MergeRequest& request, const std::string& /*title*/,
                      const Interrupt& /*interrupt*/, Outcome& outcome) override {
    const ooc::Top found = found_.take();
    require_places_in_data(found);
    if (request.table) {
      outcome.document = tsv(found);
      return {.warning = why_none(found)};
    }
    return {.json = describe_top(found), .text = table(found, type()), .warning = why_none(found)};
  }

 protected:
  void describe(Json& json) const override { json["top"] = to_json(options_); }

 private:
  ooc::TopOptions options_;
  Merged<ooc::Top> found_{};
};

}  // namespace

Asked top_question(const ooc::TopOptions& options) {
  return std::make_unique<TopQuestion>(options);
}

Asked top_question(const Json& json) {
  return top_question(top_in(json.at("top")));
}

}  // namespace ooc_run
