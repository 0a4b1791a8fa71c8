// Tests endings that say how a file is compressed, and what is in it.

#include <ooc/detail/base/compressed_name.hpp>

#include <gtest/gtest.h>

namespace ooc::detail {
namespace {

TEST(CompressedName, EndingsNameFormats) {
  EXPECT_EQ(compression_of_ending(".zst"), Compression::zstd);
  EXPECT_EQ(compression_of_ending(".gz"), Compression::gzip);
  EXPECT_EQ(compression_of_ending(".bgz"), Compression::gzip);
  EXPECT_EQ(compression_of_ending(".lz4"), Compression::lz4);
  EXPECT_EQ(compression_of_ending(".npy"), std::nullopt);
  EXPECT_EQ(compression_of_ending(""), std::nullopt);
}

TEST(CompressedName, TheEndingBeforeTellsWhatIsInside) {
  EXPECT_EQ(ending_of_data("X.NPY"), ".npy");
  EXPECT_EQ(ending_of_data("x.f32.zst"), ".f32");
  EXPECT_EQ(ending_of_data("a.b/x.npy.GZ"), ".npy");
  EXPECT_EQ(ending_of_data("x.gz"), ".gz");
  EXPECT_EQ(ending_of_data("x.npy.gz.xz"), ".xz");
  EXPECT_EQ(ending_of_data("x"), "");
}

}  // namespace
}  // namespace ooc::detail
