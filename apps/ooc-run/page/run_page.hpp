#pragma once

#include <string>
#include <string_view>

#include "rates/ceilings.hpp"
#include "result/report.hpp"
#include "timeline/run_record.hpp"

namespace ooc_run {

/// The contents of a page about a run.
struct RunPage {
  std::string_view command;
  std::string heading;               // the input, in one or more lines
  const Json &input, &result, &run;  // as in the output of --json
  std::string_view figure;           // a picture of the result, as HTML; may be empty
};

/// Returns an HTML document about a finished run. It is self-contained, needs no scripts, fonts or
/// network access, and is also well-formed XML. Numbers are formatted for people; the `value` of
/// their <data> elements has them as in --json.
std::string draw_page(const RunPage& page, const RunRecord& record, const Ceilings& ceilings);

}  // namespace ooc_run
