#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/sizing/facts.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/target.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "support/page_cache.hpp"
#include "support/random.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

class FactsTest : public testing::Test {
 protected:
  /// Creates a sparse file. Its holes are not in the page cache.
  File sparse(const char* name, std::uint64_t bytes) {
    const auto path = dir_.path() / name;
    std::ofstream{path};
    std::filesystem::resize_file(path, bytes);
    return File::open(path);
  }
  bool reads_directly() { return sparse("probe.bin", MiB).direct() >= 0; }

  test::TempDir dir_;
};

TEST_F(FactsTest, SourcesAreMeasured) {
  const Source source = SourceAccess::of_bytes(sparse("sparse.bin", 64 * MiB));
  const SourceFacts facts = facts_of(source);
  ASSERT_EQ(facts.inputs.size(), 1u);
  EXPECT_EQ(facts.inputs[0].map.size(), 1u);
  EXPECT_EQ(facts.bytes(), 64 * MiB);
  EXPECT_EQ(facts.any_direct, !facts.not_direct);
  EXPECT_LT(facts.cached_or_none(), 0.1);
  EXPECT_GE(facts.holes, 0);
}

TEST_F(FactsTest, OfASourceThatIsCachedInPartTheStretchesAreMeasured) {
  const auto path = dir_.write("half", test::random_bytes(32 * MiB, 1));
  test::evict(path);
  const test::HeldInPageCache held(path, 16 * MiB);
  test::evict(path, 16 * MiB);
  const SourceFacts facts = facts_of(open_bytes(path));
  if (!facts.cached || *facts.cached == 0 || *facts.cached == 1) {
    GTEST_SKIP() << test::needs_page_cache;
  }
  ASSERT_GE(facts.runs.size(), 2u);
  EXPECT_GT(facts.runs.front().share, 0.9);
  EXPECT_LT(facts.runs.back().share, 0.1);
}

TEST_F(FactsTest, OfSeveralInputsAreThoseOfAllFiles) {
  const Source wide = SourceAccess::of_bytes(sparse("wide.bin", 8 * MiB));
  const Source narrow = SourceAccess::of_bytes(sparse("narrow.bin", 2 * MiB));
  const PassInput inputs[] = {{wide, 4}, {narrow, 1}};
  const SourceFacts facts = facts_of(inputs);
  EXPECT_EQ(facts.bytes(), 10 * MiB);
  ASSERT_EQ(facts.inputs.size(), 2u);
  EXPECT_EQ(facts.inputs[0].first_file, 0u);
  EXPECT_EQ(facts.inputs[0].map.front(), (Extent{0, 0, 8 * MiB}));
  EXPECT_EQ(facts.inputs[1].first_file, 1u);
  EXPECT_EQ(facts.inputs[1].map.front(), (Extent{0, 0, 2 * MiB}));
  EXPECT_EQ(facts.any_direct, facts_of(wide).any_direct);
  EXPECT_TRUE(facts.runs.empty());
}

// A file below a page goes through the page cache by itself.
TEST_F(FactsTest, AFileBelowAPageKeepsNoOthersFromDirectReads) {
  if (!reads_directly()) GTEST_SKIP() << "no direct I/O here";
  std::vector<File> files;
  files.push_back(sparse("small.bin", 8));
  files.push_back(sparse("large.bin", 8 * GiB));
  const Source both = SourceAccess::of_files(std::move(files), {{0, 0, 8}, {1, 0, 8 * GiB}},
                                             {ElementType::u1, false});
  EXPECT_FALSE(facts_of(both).not_direct);
  const SourceFacts small = facts_of(SourceAccess::of_bytes(sparse("small.bin", 8)));
  ASSERT_TRUE(small.not_direct);
  EXPECT_EQ(small.not_direct->why, "it is smaller than a page");
  EXPECT_FALSE(small.any_direct);
}

// An error of the disk must not be reported as an option that is not possible.
TEST_F(FactsTest, TheDiskIsBlamedIfItKeepsDirectReadsFromWorking) {
  if (!reads_directly()) GTEST_SKIP() << "no direct I/O here";
  const auto refused_with = [&](int errno_value, ErrorKind kind) {
    test::expect_in_child([&] {
      test::refuse_system_call(SYS_pread64, errno_value);
      const SourceFacts facts = facts_of(SourceAccess::of_bytes(sparse("sparse.bin", MiB)));
      return facts.not_direct && facts.not_direct->error.kind() == kind;
    });
  };
  refused_with(EIO, ErrorKind::input);
  refused_with(EINVAL, ErrorKind::usage);
}

TEST_F(FactsTest, AnOutputSaysWhyItCannotBeWrittenDirectly) {
  const TargetFile small({.path = dir_.path() / "out", .type = {ElementType::u1}}, 5, {});
  EXPECT_EQ(facts_of(small, 0, 1).why_not_direct, small.why_not_direct());
  EXPECT_FALSE(small.why_not_direct().empty());
  const TargetFile npy({.path = dir_.path() / "out.npy", .type = {ElementType::u1}}, 5, {});
  EXPECT_EQ(facts_of(npy, npy.data_offset(), 1).offset, npy.data_offset());
}

}  // namespace
}  // namespace ooc::detail
