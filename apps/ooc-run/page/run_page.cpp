#include "page/run_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/version.hpp"
#include "draw/edge_labels.hpp"
#include "draw/svg.hpp"
#include "machine/environment.hpp"
#include "page/fact_html.hpp"
#include "page/page_style.hpp"
#include "page/rate_picture.hpp"
#include "page/window_picture.hpp"
#include "timeline/event_track.hpp"

namespace ooc_run {
namespace {

std::string section(std::string_view title, std::string_view html) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title, html);
}

std::string banner(std::string_view css_class, std::string_view text) {
  return fmt::format("<p class=\"banner {}\">{}</p>\n", css_class, escape_xml(text));
}

/// True if the object has a boolean of this name and value.
bool is(const Json& object, const char* key, bool wanted) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>() == wanted;
}

/// Puts each word of the command into a <span>, which the style breaks only if it is longer than a
/// line.
std::string words_of(const std::string& command) {
  std::string html = "<span>";
  for (const char letter : escape_xml(command)) {
    html += letter == ' ' ? "</span> <span>" : std::string(1, letter);
  }
  return html + "</span>";
}

/// Returns the size of all inputs (bytes).
double bytes_of(const Json& input) {
  if (input.contains("bytes")) return input.at("bytes").get<double>();
  double bytes = 0;
  for (const Json& one : input) bytes += bytes_of(one);
  return bytes;
}

/// Returns the banners at the top of the page: warnings, and the verdict or why there is none.
/// (A run without a verdict was interrupted or took less than a second.)
std::string banners(const RunPage& page) {
  std::string html;
  const bool partial = is(page.result, "partial", true);
  if (partial) {
    const auto covered = page.result.at("covered_bytes").get<double>();
    const double bytes = bytes_of(page.input);
    html += banner("bad", fmt::format("PARTIAL: interrupted; the result covers {} of {}",
                                      format_decimal_bytes(covered), format_decimal_bytes(bytes)));
  }
  if (is(page.result, "verified", false)) {
    html += banner("bad", "WRONG: the result failed its check");
  }
  const Json& verdict = page.run.at("verdict");
  if (verdict.is_string()) return html + banner("verdict", verdict.get<std::string>());
  if (partial) return html;
  return html + banner("verdict", "No verdict: a run of less than a second is too short for one");
}

/// Returns one figure of the row below the banners: a large number above its name.
std::string key_figure(std::string_view name, const std::string& text) {
  return fmt::format("<div class=\"figure\"><b>{}</b><span>{}</span></div>\n", text, name);
}

std::string key_figures(const RunPage& page) {
  const Json& run = page.run;
  const auto seconds = run.at("seconds").get<double>();
  const auto rate = run.at("bytes_per_second").get<double>();
  std::string html;
  if (page.result.contains("flops") && seconds > 0) {
    const double flops = std::strtod(text_of(page.result.at("flops")).c_str(), nullptr);
    html += key_figure("arithmetic", escape_xml(format_flops(flops / seconds) + "/s"));
  }
  html +=
      key_figure("read", escape_xml(format_decimal_bytes(rate * seconds))) +
      key_figure(run.at("passes") == 1 ? "time"
                                       : fmt::format("time, {} passes", text_of(run.at("passes"))),
                 escape_xml(format_seconds(seconds))) +
      key_figure("average rate", escape_xml(format_rate(rate)));
  if (page.result.contains("bytes_written")) {
    const auto written = page.result.at("bytes_written").get<double>();
    html += key_figure("written", escape_xml(format_decimal_bytes(written)));
  }
  html += key_figure(run.at("chunks") == 1 ? "chunk" : "chunks",
                     group_digits(text_of(run.at("chunks"))));
  return fmt::format("<div class=\"figures\">\n{}</div>\n", html);
}

/// Returns a row of the table of stages. `all_seconds`: the run time, summed over the lanes if each
/// has this stage.
std::string stage_row(std::string_view name, const Json& stage, double all_seconds) {
  struct Part {
    std::string_view css_class, name, key;
  };
  constexpr std::array parts{Part{"busy", "busy", "busy_seconds"},
                             Part{"waits-in", "waits for input", "waits_in_seconds"},
                             Part{"waits-out", "waits for room", "waits_out_seconds"}};
  double sum = 0;
  for (const Part& part : parts) sum += stage.at(part.key).get<double>();
  const double all = std::max(all_seconds, sum);
  std::string bars, numbers;
  for (const Part& part : parts) {
    const Json& seconds = stage.at(part.key);
    const double percent = all > 0 ? 100 * seconds.get<double>() / all : 0;
    bars +=
        fmt::format("<span class=\"{}\" style=\"width:{:.2f}%\"></span>", part.css_class, percent);
    numbers +=
        fmt::format("<td>{}<small>{:.0f} %</small></td>", html_value(part.key, seconds), percent);
  }
  const std::string rate = html_value("stage_bytes_per_second", stage.at("bytes_per_second"));
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"bars\"><div class=\"bar-row\">{}</div></td>{}"
      "<td>{}</td></tr>\n",
      name, bars, numbers, rate);
}

/// Returns the stages without copies that did not take place, because a CPU computes on the data in
/// place. The time that lanes waited in these copies is added to the kernel's.
Json stages_at_work(const Json& run) {
  Json stages = run.at("stages");
  Json& kernel = stages.at("kernel");
  for (const char* copy : {"h2d", "d2h"}) {
    Json& stage = stages.at(copy);
    if (stage.is_null() || stage.at("busy_seconds").get<double>() > 0) continue;
    for (const char* wait : {"waits_in_seconds", "waits_out_seconds"}) {
      kernel.at(wait) = kernel.at(wait).get<double>() + stage.at(wait).get<double>();
    }
    stage = nullptr;
  }
  return stages;
}

bool is_on_cpu(const Json& run) {
  return run.at("device") == "cpu";
}

std::string label_of_stage(const std::string& name, bool on_cpu) {
  using Kind = ooc::TraceEvent::Kind;
  for (const Kind kind : {Kind::h2d, Kind::d2h}) {
    if (name == name_of(kind)) return std::string(label_of(kind, on_cpu));
  }
  return name;
}

std::string stages(const Json& run) {
  const auto seconds = run.at("seconds").get<double>();
  const auto streams = std::max<std::uint64_t>(1, run.at("streams").get<std::uint64_t>());
  std::string rows;
  std::vector<std::string> of_lanes;
  const Json stages = stages_at_work(run);
  for (const auto& [name, stage] : stages.items()) {
    if (stage.is_null()) continue;
    const bool is_of_lanes = name == "h2d" || name == "kernel" || name == "d2h";
    const std::string label = label_of_stage(name, is_on_cpu(run));
    if (is_of_lanes) of_lanes.push_back(label);
    rows += stage_row(label, stage, is_of_lanes ? seconds * static_cast<double>(streams) : seconds);
  }
  return fmt::format(
      "<table class=\"stages\"><thead><tr><th scope=\"col\">stage</th><td></td>"
      "<th scope=\"col\"><span class=\"swatch busy\"></span>busy</th>"
      "<th scope=\"col\"><span class=\"swatch waits-in\"></span>waits for input</th>"
      "<th scope=\"col\"><span class=\"swatch waits-out\"></span>waits for room</th>"
      "<th scope=\"col\">while busy</th></tr></thead>\n<tbody>\n{}</tbody></table>\n"
      "<p class=\"note\">A bar is the run’s {}{}. What is left of it is start-up, or time that "
      "another stage took.</p>\n",
      rows, format_seconds(seconds),
      streams > 1 ? fmt::format(", for {} times {} streams", enumeration(of_lanes), streams) : "");
}

/// Returns the counts of a histogram as a table, or a note if there are too many.
std::string bin_table(const Json& answer) {
  constexpr std::size_t most = 1024;
  const Json& result = answer.contains("histogram") ? answer.at("histogram") : answer;
  if (!result.contains("bins") || result.at("counts").is_null()) return {};
  if (result.at("bins").get<std::size_t>() > most) {
    return "<p class=\"note\">The counts of all bins are in what --json prints.</p>\n";
  }
  const auto edges = numbers_in<double>(result.at("edges"));
  const auto counts = numbers_in<std::uint64_t>(result.at("counts"));
  const std::vector<std::string> labels = edge_labels(edges);
  const auto edge = [&](std::size_t i) {
    return fmt::format("<data value=\"{}\">{}</data>", text_of(edges[i]), labels[i]);
  };
  std::string rows;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", edge(i), edge(i + 1),
                        html_value("count", counts[i]));
  }
  return fmt::format(
      "<details><summary>{} in figures</summary>\n<table class=\"bins\"><thead><tr>"
      "<th scope=\"col\">from</th><th scope=\"col\">to</th><th scope=\"col\">count</th>"
      "</tr></thead>\n<tbody>\n{}</tbody></table></details>\n",
      format_count(counts.size(), "bin"), rows);
}

/// Returns rows for the environment variables that are set in place of options.
std::string variable_rows(std::string_view command) {
  std::string rows;
  for (const Option& option : options_of(find_command(command))) {
    const std::string name = environment_name(option.name);
    const char* const value = std::getenv(name.c_str());
    if (value != nullptr) rows += fact_row(name, escape_xml(printable(value)));
  }
  return rows;
}

std::string machine(const RunPage& page) {
  const Json& input = page.input.contains("files") ? page.input : page.input.front();
  const auto path = input.at("files").at(0).at("path").get<std::string>();
  const auto row = [](std::string_view name, const std::string& text) {
    return text.empty() ? std::string() : fact_row(name, escape_xml(text));
  };
  const std::string rows =
      row("date", now()) + row("machine", machine_name()) +
      row("memory", format_bytes(memory_bytes())) + row("kernel", "Linux " + kernel_release()) +
      row("file system", file_system_of(path)) + row("huge pages", huge_pages()) +
      row("GPU driver", gpu_driver()) + variable_rows(page.command);
  return fact_table(rows) + "<pre>" + escape_lines(describe_version()) + "</pre>\n";
}

std::string choices(const Json& run) {
  Json facts = run;
  for (const char* shown_elsewhere : {"stages", "ceilings", "verdict", "reasons"}) {
    facts.erase(shown_elsewhere);
  }
  std::string reasons;
  for (const Json& reason : run.at("reasons")) {
    reasons += fmt::format("<li>{}</li>\n", escape_xml(printable(reason.get<std::string>())));
  }
  if (!reasons.empty()) reasons = fmt::format("<ul class=\"reasons\">\n{}</ul>\n", reasons);
  const std::array groups{
      FactGroup{"device and reading", {"device", "engine", "direct", "page_cache_fraction"}},
      FactGroup{"sizes and numbers",
                {"chunk_bytes", "chunks", "block_bytes", "in_flight", "streams", "threads"}},
      FactGroup{"memory", {"pool_bytes", "read_ahead_bytes", "device_bytes"}},
      FactGroup{"time",
                {"seconds", "startup_seconds", "device_seconds", "publish_seconds", "passes",
                 "bytes_per_second"}}};
  return fact_groups(facts, groups) + reasons;
}

std::string result_tables(const Json& result) {
  const std::array groups{
      FactGroup{"values",
                {"count", "nan", "inf", "omitted", "below", "above", "from", "to", "inexact",
                 "rounded", "overflowed", "clipped", "covered_bytes"}},
      FactGroup{"bins", {"bins", "lower", "upper"}},
      FactGroup{"sum and spread", {"sum", "mean", "variance", "stddev", "exact"}},
      FactGroup{"extremes", {"min", "argmin", "max", "argmax"}},
      FactGroup{"product", {"rows", "columns", "inner", "dtype", "compute", "flops", "library"}},
      FactGroup{"traffic", {"passes", "bytes_read", "link_bytes", "resident"}},
      FactGroup{"output", {"path", "bytes_written"}},
      FactGroup{"check", {"verified", "unchecked_rows"}}};
  return fact_groups(result, groups);
}

}  // namespace

std::string draw_page(const RunPage& page, const RunRecord& record, const Ceilings& ceilings) {
  const std::string body =
      fmt::format(
          "<header>\n<h1>ooc-run {}</h1>\n<p class=\"heading\">{}</p>\n"
          "<pre class=\"command\">{}</pre>\n</header>\n",
          page.command, escape_lines(page.heading), words_of(printable(command_line()))) +
      banners(page) + key_figures(page) +
      section("Result",
              std::string(page.figure) + result_tables(page.result) + bin_table(page.result)) +
      section("Where the time went", stages(page.run)) +
      section("Rate over time", draw_rates(record, ceilings)) +
      section("What happened when", draw_windows(record, is_on_cpu(page.run))) +
      section("Input", input_tables(page.input)) +
      section("What was chosen, and why", choices(page.run)) +
      section("Machine and version", machine(page));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
      "<title>{0}: {1}</title>\n<style>\n{2}</style>\n</head>\n<body>\n<main>\n{3}</main>\n"
      "</body>\n</html>\n",
      page.command, escape_xml(page.heading), page_style, body);
}

}  // namespace ooc_run
