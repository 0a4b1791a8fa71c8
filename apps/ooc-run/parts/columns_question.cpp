#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "answers/columns_report.hpp"
#include "answers/reduce_report.hpp"
#include "parts/merged.hpp"
#include "parts/questions.hpp"
#include "parts/settings_json.hpp"
#include "run/inputs.hpp"

namespace ooc_run {
namespace {

class ColumnsQuestion final : public Question {
 public:
  ColumnsQuestion(const ooc::ReduceOptions& options, std::optional<std::uint64_t> columns)
      : Question("reduce"), options_(options), columns_(columns) {}

  std::string_view records() const override { return "rows"; }
  std::uint64_t columns() const override { return *columns_; }
  std::uint64_t tile_records() const override {
    return ooc::column_tile_rows(*columns_ * ooc::size_of(type()));
  }

  void set_sources(std::span<ooc::Source> sources) override {
    const ooc::Source& source = sources.front();
    columns_ = set_columns(sources.front(), columns_);
    ooc::dry_run_reduce_columns({}, ooc::DeviceKind::cpu, source, options_);
  }
  ooc::Source section_of(const ooc::Source& source, const Shard& shard) const override {
    return ooc::shard_rows(source, shard.index, shard.count, tile_records());
  }
  Task task(Sources sections) const override { return reduce_task(sections.front(), options_); }
  Explanation explain(const RunSettings& settings, Sources sections) const override {
    return explain_columns(settings, sections.front(), options_);
  }
  ooc::Stats collect(ooc::Coordinator& coordinator, Sources sections,
                     const ooc::PassOptions& wanted, ooc::PartFile& file) const override {
    return keep(file, ooc::collect_reduce_columns(coordinator, sections.front(), options_, wanted));
  }

  void merge(const ooc::PartFile& file) override {
    found_.add(file, [&](const auto& saved) {
      return ooc::load_reduce_columns(type(), *columns_, options_, saved);
    });
  }
  void add_to(ooc::PartFile& file) const override { found_.add_to(file); }

  MergedAnswer answer(const MergeRequest& request, const std::string& /*title*/,
                      const Interrupt& /*interrupt*/, Outcome& outcome) override {
    const std::vector<ooc::Statistics> found = found_.take();
    for (const ooc::Statistics& column : found) require_places_in_data(column);
    const std::string warning = why_nan(found, options_);
    if (request.table) {
      outcome.document = tsv(found);
      return {.warning = warning};
    }
    return {.json = describe_columns(found, options_),
            .text = table(found, type()),
            .warning = warning};
  }

 protected:
  void describe(Json& json) const override {
    json["reduce"] = to_json(options_);
    json["columns"] = std::to_string(*columns_);
  }

 private:
  ooc::ReduceOptions options_;
  std::optional<std::uint64_t> columns_;  // empty until the source says it
  Merged<std::vector<ooc::Statistics>> found_{};
};

}  // namespace

Asked columns_question(const ooc::ReduceOptions& reduce, std::optional<std::uint64_t> columns) {
  return std::make_unique<ColumnsQuestion>(reduce, columns);
}

Asked columns_question(const Json& json) {
  const std::uint64_t columns = integer_in_text(json.at("columns"));
  require_columns(columns);
  return columns_question(reduce_in(json.at("reduce")), columns);
}

}  // namespace ooc_run
