#include "manual/generate.hpp"

#include <fmt/format.h>

#include <array>
#include <ooc/error.hpp>

#include "cli/arguments.hpp"
#include "cli/failure.hpp"

namespace ooc_run {

std::string generate(std::string_view what, const Command* command) {
  using Maker = std::string (*)();
  constexpr std::array<Maker, generated_names.size()> makers{
      [] { return man_page(); }, reference, bash_completion, zsh_completion, fish_completion};
  if (what.empty()) {
    refuse_usage("--generate needs a value",
                 fmt::format("one of {}", fmt::join(generated_names, ", ")));
  }
  try {
    const Maker make = choose(generated_names, makers, what);
    if (command == nullptr) return make();
  } catch (const ooc::Error& error) {
    throw ooc::Error(error.kind(), fmt::format("--generate {}: {}", what, error.what()),
                     error.details());
  }
  if (what == "man") return man_page(*command);
  refuse_usage(fmt::format("--generate {}: is about all commands", what),
               fmt::format("ooc-run --generate {}", what));
}

}  // namespace ooc_run
