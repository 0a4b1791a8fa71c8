#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ooc/error.hpp>
#include <utility>

#include "answers/quantile_report.hpp"
#include "parts/merged.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"

namespace ooc_run {
namespace {

class QuantileQuestion final : public Question {
 public:
  explicit QuantileQuestion(ooc::QuantileOptions options)
      : Question("quantile"), options_(std::move(options)) {}

  void set_data(AskedData data) override {
    Question::set_data(std::move(data));
    search_.emplace(type(), options_);
  }

  std::size_t rounds() const override { return ooc::quantile_passes(type(), options_); }
  std::string why_one_round() const override { return "quantiles of this type take one round"; }
  bool is_answered() const override { return search_->is_complete(); }

  Task task(Sources sections) const override { return quantile_task(sections.front(), 1); }
  Explanation explain(const RunSettings& settings, Sources sections) const override {
    return explain_quantile(settings, sections.front(), options_, 1);
  }
  ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                     const ooc::PassOptions& wanted, ooc::PartFile& file) const override {
    return keep(file, search_->collect(coordinator, sections.front(), wanted));
  }

  void merge(const ooc::PartFile& file) override {
    found_.add(file, [&](const auto& saved) { return search_->load(saved); });
  }
  void add_to(ooc::PartFile& file) const override { found_.add_to(file); }

  MergedAnswer answer(const MergeRequest& request, const std::string& /*title*/,
                      const Interrupt& /*interrupt*/, Outcome& outcome) override {
    search_->take(found_.take());
    if (!search_->is_complete()) {
      refuse_round(fmt::format("round {} of {}", round(), rounds()),
                   "the quantiles are found in the last round");
    }
    const ooc::Quantiles found = search_->result();
    const std::string warning = why_nan(found, options_);
    if (request.table) {
      outcome.document = tsv(found);
      return {.warning = warning};
    }
    return {.json = describe_quantiles(found, options_),
            .text = table(found, type(), options_),
            .warning = warning};
  }

 protected:
  void describe(Json& json) const override { json["quantile"] = to_json(options_); }
  void take_round(std::span<const std::byte> found, std::uint64_t records) override {
    auto counts = search_->load(found);
    if (counts.records() != records) {
      throw ooc::Error(ooc::ErrorKind::bad_input, "its counts are of other data");
    }
    search_->take(std::move(counts).result());
  }

 private:
  ooc::QuantileOptions options_;
  std::optional<ooc::QuantileSearch> search_{};  // after the rounds so far
  Merged<ooc::QuantileCounts> found_{};
};

}  // namespace

Asked quantile_question(const ooc::QuantileOptions& options) {
  return std::make_unique<QuantileQuestion>(options);
}

Asked quantile_question(const Json& json) {
  return quantile_question(quantile_in(json.at("quantile")));
}

}  // namespace ooc_run
