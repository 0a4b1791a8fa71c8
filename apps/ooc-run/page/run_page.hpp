#pragma once

#include <string>
#include <string_view>

#include "rates/ceilings.hpp"
#include "result/report.hpp"
#include "timeline/run_record.hpp"

namespace ooc_run {

/// What a page about a run is made of.
struct RunPage {
  std::string_view command;
  std::string heading;               // what was read, in a line or several
  const Json &input, &result, &run;  // as --json has them
  std::string_view figure;           // of the result, as HTML; may be empty
};

/// An HTML document about a run that has ended. It needs nothing but itself: no script, no font, no
/// network. It is well-formed XML too. Numbers are written for people, and as they are in --json as
/// the `value` of a <data> element.
std::string draw_page(const RunPage& page, const RunRecord& record, const Ceilings& ceilings);

}  // namespace ooc_run
