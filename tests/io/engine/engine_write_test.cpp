#include <gtest/gtest.h>

#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

#include "io/pages.hpp"
#include "support/child_process.hpp"
#include "support/engines.hpp"
#include "support/temp_dir.hpp"

// Tests that apply to writing only: short writes.

namespace ooc::detail {
namespace {

using test::Pages;

/// Limits the size of files that this process writes. A write that begins at or beyond `bytes` gets
/// SIGXFSZ. Returns false if the limit could not be set.
bool limit_file_size(std::size_t bytes) {
  const rlimit limit{bytes, bytes};
  return std::signal(SIGXFSZ, SIG_DFL) != SIG_ERR && ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

class EngineWriteTest : public test::EachEngine {
 protected:
  test::TempDir directory_;
  OutputFile file_{directory_.path() / "result", 100'000, false};
};

// The first write is short: the kernel accepts the bytes below the limit. It reports EFBIG only for
// a write that begins at the limit, so the error has this offset only if the write was continued.
TEST_P(EngineWriteTest, ContinuesShortWrites) {
  test::expect_in_child([&] {
    if (!limit_file_size(10'000)) return false;
    Pages pages(16384);
    for (const bool direct : {false, true}) {
      if (direct && file_.direct() < 0) continue;
      Request request{.target = &file_,
                      .direct = direct,
                      .memory = pages.data(),
                      .offset = 4096,
                      .bytes = 16384,
                      .needed = 16384};
      const auto engine = make({.writes = true});
      engine->start(request);
      try {
        engine->wait();
        return false;
      } catch (const Error& error) {
        const ErrorDetails& details = error.details();
        const bool right = error.kind() == ErrorKind::output && details.errno_value == EFBIG &&
                           details.offset == 10'000u && details.path == file_.path() &&
                           !details.hint.empty() && engine->in_flight() == 0;
        if (!right) throw;
      }
    }
    return true;
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineWriteTest, test::all_engines, test::engine_name);

}  // namespace
}  // namespace ooc::detail
