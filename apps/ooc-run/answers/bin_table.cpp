#include "answers/bin_table.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "draw/bin_groups.hpp"

namespace ooc_run {
namespace {

/// Adds a density, which is not finite for a bin without a width, as NumPy prints it.
void add_density(TextStream& out, double density) {
  if (std::isfinite(density)) return out.add(density);
  out.add(std::isnan(density) ? "nan" : "inf");
}

void print_rows(TextStream& out, const ooc::Histogram& histogram, const BinTable& columns) {
  const auto& [edges, counts, below, above, nan, count] = histogram;
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::uint64_t so_far = 0;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    so_far += counts[bin];
    out.add(edges[bin]);
    out.add("\t");
    out.add(edges[bin + 1]);
    out.add("\t");
    out.add(counts[bin]);
    if (columns.density) {
      out.add("\t");
      const double width = edges[bin + 1] - edges[bin];
      add_density(out, static_cast<double>(counts[bin]) / width / static_cast<double>(all));
    }
    if (columns.cumulative) {
      out.add("\t");
      out.add(so_far);
    }
    out.add("\n");
  }
}

}  // namespace

void print_as_table(ooc::Histogram histogram, const BinTable& columns, Outcome& outcome) {
  if (const std::string outside = describe_outside(histogram); !outside.empty()) {
    outcome.notes.push_back("not in the table: " + outside);
  }
  outcome.document = Document("lower\tupper\tcount");
  if (columns.density) outcome.document.add("\tdensity");
  if (columns.cumulative) outcome.document.add("\tcumulative");
  outcome.document.add("\n");
  const auto kept = std::make_shared<const ooc::Histogram>(std::move(histogram));
  outcome.document.add([kept, columns](TextStream& out) { print_rows(out, *kept, columns); });
}

}  // namespace ooc_run
