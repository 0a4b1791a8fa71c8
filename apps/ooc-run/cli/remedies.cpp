#include "cli/remedies.hpp"

#include <string>
#include <string_view>

namespace ooc_run {
namespace {

/// A phrase of the library's hints, and its replacement. PATH there is the file of the error, as a
/// word for a shell.
struct Phrase {
  std::string_view library, option;
};

// A phrase that contains another one is before it.
constexpr Phrase phrases[] = {
    {"set MatmulOptions::precision to f32, or compute on a GPU",
     "--compute f32 works here; --device cuda needs a GPU"},
    {"set Format::type to what a raw file holds", "say with --dtype what a raw file holds"},
    {"unset ConvertOptions::strict", "leave out --strict"},
    {"ooc::convert() to ", "ooc-run convert PATH -o OUT --to "},
    {"HistogramOptions::range", "--range LOWER:UPPER"},
    {"Format::type", "--dtype"},
    {"Options::memory_bytes", "--memory"},
    {"Options::device_bytes", "--vram"},
    {"Options::threads", "--threads"},
};

void replace(std::string& text, std::string_view phrase, std::string_view replacement) {
  const std::size_t at = text.find(phrase);
  if (at != std::string::npos) text.replace(at, phrase.size(), replacement);
}

}  // namespace

ooc::Error in_terms_of_options(const ooc::Error& error) {
  ooc::ErrorDetails details = error.details();
  for (const auto& [library, option] : phrases) {
    std::string replacement(option);
    replace(replacement, "PATH", ooc::shell_word(details.path));
    replace(details.hint, library, replacement);
  }
  return {error.kind(), error.what(), details};
}

}  // namespace ooc_run
