#include "run/verdict.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

using enum ooc::DeviceKind;

ooc::Stats ten_seconds() {
  ooc::Stats stats;
  stats.outcome.bytes = 50'000'000'000;
  stats.timing.seconds = 10;
  stats.layout.streams = 2;
  stats.layout.page_cache_fraction = 0.0;
  return stats;
}

/// Returns the ceilings of a machine with a GPU.
Ceilings ceilings_with_gpu() {
  return {.disk = 5.2e9, .page_cache = 54e9, .h2d = 55e9, .d2h = 55e9, .kernel = 2e12};
}

// --- without ceilings -----------------------------------------------------------------------

TEST(Verdict, DiskBounds) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 9.8;
  stats.timing.h2d.busy = 2;
  stats.timing.kernel.busy = 0.6;  // of 2 x 10 s: 3 %
  EXPECT_EQ(verdict(stats, cuda, {}),
            "disk-bound: 5.00 GB/s, busy 98 % (ceilings not measured: ooc-run bench FILE); "
            "GPU idle 97 %");
}

TEST(Verdict, DirectReadsTakeNothingFromThePageCache) {
  ooc::Stats stats = ten_seconds();
  stats.layout.page_cache_fraction = 1;
  stats.layout.direct = true;
  stats.timing.disk.busy = 10;
  EXPECT_EQ(verdict(stats, cpu, {.disk = 5.2e9, .page_cache = 54e9}),
            "disk-bound: 5.00 of 5.20 GB/s (96 %); CPU kernel idle 100 %; more streams will not "
            "help, a faster disk would");
}

TEST(Verdict, SaysHowMuchCameFromThePageCache) {
  ooc::Stats stats = ten_seconds();
  stats.layout.page_cache_fraction = 0.4;
  stats.layout.direct = true;
  stats.layout.in_order = false;
  stats.timing.disk.busy = 9;
  EXPECT_EQ(verdict(stats, cpu, {}),
            "disk-bound: 5.00 GB/s, 40 % of it from the page cache, busy 90 % (ceilings not "
            "measured: ooc-run bench FILE); CPU kernel idle 100 %");
}

TEST(Verdict, HolesComeFromNoDisk) {
  ooc::Stats stats = ten_seconds();  // faster than a disk
  stats.layout.hole_fraction = 0.98;
  stats.layout.direct = true;
  stats.timing.disk.busy = 9;
  EXPECT_EQ(verdict(stats, cpu, {.disk = 1e9, .page_cache = 4e9}),
            "read-bound: 5.00 GB/s, 98 % of it holes, which are on no disk, busy 90 %; CPU kernel "
            "idle 100 %; faster memory would help");
  stats.layout.hole_fraction = 0.2;
  EXPECT_EQ(verdict(stats, cpu, {.disk = 1e9, .page_cache = 4e9}),
            "disk-bound: 5.00 GB/s, 20 % of it holes, which are on no disk, busy 90 %; CPU kernel "
            "idle 100 %; a faster disk would help");
}

TEST(Verdict, DecodingBounds) {
  ooc::Stats stats = ten_seconds();
  stats.layout.decodes = true;
  stats.outcome.stored_bytes = 20'000'000'000;
  stats.layout.page_cache_fraction.reset();
  stats.timing.disk.busy = 10;
  stats.timing.decode.busy = 9.5;
  stats.timing.kernel.busy = 2;
  EXPECT_EQ(verdict(stats, cuda, {}),
            "decode-bound: 5.00 GB/s, 2.00 GB/s stored, busy 95 % (ceilings not measured: ooc-run "
            "bench FILE); GPU idle 90 %, disk idle 95 %");
  stats.timing.decode.busy = 2;
  EXPECT_EQ(verdict(stats, cuda, ceilings_with_gpu()),
            "disk-bound: 5.00 GB/s, 2.00 GB/s stored, busy 80 %; GPU idle 90 %; a faster disk "
            "would help")
      << "threads wait for stored bytes";
  stats.layout.reads_inline = true;
  stats.timing.disk.busy = 9;
  stats.timing.decode.busy = 8;
  EXPECT_EQ(verdict(stats, cpu, ceilings_with_gpu()),
            "decode-bound: 5.00 GB/s, 2.00 GB/s stored, busy 80 %; more cores would help");
}

TEST(Verdict, CachedBytesComeFromThePageCache) {
  ooc::Stats stats = ten_seconds();
  stats.layout.page_cache_fraction = 1;
  stats.timing.disk.busy = 9;
  stats.timing.kernel.busy = 10;
  EXPECT_EQ(verdict(stats, cpu, {}),
            "read-bound: 5.00 GB/s from the page cache, busy 90 % (ceilings not measured: ooc-run "
            "bench FILE); CPU kernel idle 50 %");
}

TEST(Verdict, CopyBounds) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 5;
  stats.timing.h2d.busy = 19;
  EXPECT_EQ(verdict(stats, cuda, {}),
            "copy-bound: 5.00 GB/s, busy 95 % (ceilings not measured: ooc-run bench FILE); "
            "GPU idle 100 %, disk idle 50 %");
}

TEST(Verdict, KernelBoundsOverTwoPasses) {
  ooc::Stats stats = ten_seconds();
  stats.outcome.passes = 2;
  stats.layout.page_cache_fraction = {};
  stats.timing.disk.busy = 4;
  stats.timing.kernel.busy = 19.4;
  EXPECT_EQ(
      verdict(stats, cpu, {}),
      "kernel-bound: 10.0 GB/s in 2 passes, busy 97 % (ceilings not measured: ooc-run bench FILE); "
      "disk idle 60 %");
}

TEST(Verdict, ChecksumBounds) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 3;
  stats.timing.kernel.busy = 2;
  stats.timing.checksum_seconds = 9.7;  // one stream at a time
  EXPECT_EQ(verdict(stats, cuda, ceilings_with_gpu()),
            "checksum-bound: 5.00 GB/s, busy 97 %; GPU idle 90 %, disk idle 70 %; a run without "
            "--checksum would help");
}

TEST(Verdict, NobodyBounds) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 4;
  stats.timing.kernel.busy = 6;
  EXPECT_EQ(verdict(stats, cpu, {}),
            "no stage bounds the run: 5.00 GB/s (ceilings not measured: ooc-run bench FILE); "
            "CPU kernel idle 70 %, disk idle 60 %");
  EXPECT_EQ(verdict(stats, cpu, ceilings_with_gpu()),
            "no stage bounds the run: 5.00 GB/s; CPU kernel idle 70 %, disk idle 60 %");
}

TEST(Verdict, WritingBoundsWithItsEnd) {
  ooc::Stats stats = ten_seconds();
  stats.outcome.bytes_written = 20'000'000'000;
  stats.timing.disk.busy = 6;
  stats.timing.kernel.busy = 2;
  stats.timing.write.busy = 7;
  stats.timing.commit_seconds = 2.5;
  EXPECT_EQ(verdict(stats, cuda, {}),
            "write-bound: 5.00 GB/s, 2.00 GB/s written, busy 95 % (ceilings not measured: ooc-run "
            "bench FILE); GPU idle 90 %, reading idle 40 %");
}

TEST(Verdict, InterruptedRunsHaveNone) {
  ooc::Stats stats = ten_seconds();
  stats.outcome.partial = true;
  stats.timing.disk.busy = 10;
  EXPECT_EQ(verdict(stats, cpu, ceilings_with_gpu()), "");
}

TEST(Verdict, ShortRunsHaveNone) {
  ooc::Stats stats = ten_seconds();
  stats.timing.seconds = 1;
  stats.timing.disk.busy = 1;
  EXPECT_EQ(verdict(stats, cpu, ceilings_with_gpu()), "");
}

// --- with ceilings --------------------------------------------------------------------------

TEST(VerdictWithCeilings, AFasterDiskWouldHelpAsFarAsTheNextStageAllows) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 9.8;
  stats.timing.kernel.busy = 0.6;
  EXPECT_EQ(verdict(stats, cuda, ceilings_with_gpu()),
            "disk-bound: 5.00 of 5.20 GB/s (96 %); GPU idle 97 %; more streams will not help, a "
            "faster disk would (up to 11x)");
}

TEST(VerdictWithCeilings, OfADiskAlone) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 9.8;
  EXPECT_EQ(verdict(stats, cuda, {.disk = 5.2e9}),
            "disk-bound: 5.00 of 5.20 GB/s (96 %); GPU idle 100 %; more streams will not help, a "
            "faster disk would");
}

TEST(VerdictWithCeilings, UnitsDiffer) {
  ooc::Stats stats = ten_seconds();
  stats.outcome.bytes = 9'900'000'000;
  stats.timing.disk.busy = 9.8;
  EXPECT_EQ(verdict(stats, cuda, {.disk = 1.1e9}),
            "disk-bound: 990 MB/s of 1.10 GB/s (90 %); GPU idle 100 %; more streams will not help, "
            "a faster disk would");
}

TEST(VerdictWithCeilings, ADiskThatGaveMoreWhenItWasMeasured) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 9.8;
  Ceilings ceilings = ceilings_with_gpu();
  ceilings.disk = 10e9;
  EXPECT_EQ(verdict(stats, cuda, ceilings),
            "disk-bound: 5.00 of 10.0 GB/s (50 %); GPU idle 100 %; alone the disk gives 2.0x as "
            "much");
}

TEST(VerdictWithCeilings, ADiskThatGaveLessWhenItWasMeasured) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 9.8;
  EXPECT_EQ(verdict(stats, cpu, {.disk = 4.7e9, .kernel = 50e9}),
            "disk-bound: 5.00 of 4.70 GB/s (106 %); CPU kernel idle 100 %; the stored ceiling is "
            "out of date: ooc-run bench FILE measures it anew");
  EXPECT_EQ(verdict(stats, cpu, {.disk = 4.8e9}),
            "disk-bound: 5.00 of 4.80 GB/s (104 %); CPU kernel idle 100 %; more streams will not "
            "help, a faster disk would");
}

TEST(VerdictWithCeilings, AFasterDiskWouldNotHelpIfTheNextStageIsAsSlow) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 9.8;
  stats.timing.kernel.busy = 17;
  EXPECT_EQ(verdict(stats, cpu, {.disk = 5.2e9, .kernel = 5.1e9}),
            "disk-bound: 5.00 of 5.20 GB/s (96 %); CPU kernel idle 15 %; more streams will not "
            "help, nor a faster disk alone: the kernel gives no more");
}

TEST(VerdictWithCeilings, CopyBoundsAWarmRun) {
  ooc::Stats stats = ten_seconds();
  stats.outcome.bytes = 500'000'000'000;
  stats.layout.page_cache_fraction = 1.0;
  stats.timing.disk.busy = 9;
  stats.timing.h2d.busy = 19.6;
  Ceilings ceilings = ceilings_with_gpu();
  ceilings.page_cache = 80e9;
  EXPECT_EQ(verdict(stats, cuda, ceilings),
            "copy-bound: 50.0 of 55.0 GB/s (91 %) from the page cache; GPU idle 100 %, reading "
            "idle 10 %; more streams will not help, a faster link would (up to 1.6x)");
}

TEST(VerdictWithCeilings, ReadingBoundsAWarmRun) {
  ooc::Stats stats = ten_seconds();
  stats.outcome.bytes = 500'000'000'000;
  stats.layout.page_cache_fraction = 1.0;
  stats.timing.disk.busy = 9.9;
  stats.timing.h2d.busy = 18;
  EXPECT_EQ(verdict(stats, cuda, ceilings_with_gpu()),
            "read-bound: 50.0 of 54.0 GB/s (93 %) from the page cache; GPU idle 100 %; more "
            "streams will not help, faster memory would (up to 1.1x)");
}

TEST(VerdictWithCeilings, BothWaysAtOnceForAHalfCachedFile) {
  ooc::Stats stats = ten_seconds();
  stats.layout.page_cache_fraction = 0.4;
  stats.timing.disk.busy = 9.9;
  EXPECT_EQ(verdict(stats, cpu, {.disk = 3.3e9, .page_cache = 20e9}),
            "disk-bound: 5.00 of 5.50 GB/s (91 %), 40 % of it from the page cache; CPU kernel idle "
            "100 %; more streams will not help, a faster disk would");
  EXPECT_EQ(verdict(stats, cpu, {.disk = 3.3e9}),
            "disk-bound: 5.00 GB/s, 40 % of it from the page cache, busy 99 %; CPU kernel idle "
            "100 %; a faster disk would help");
}

TEST(Verdict, CoresThatCopyAndComputeAreOneStage) {
  ooc::Stats stats = ten_seconds();
  stats.layout.page_cache_fraction = 1.0;
  stats.layout.reads_inline = true;
  stats.timing.disk.busy = 4.5;
  stats.timing.kernel.busy = 10;  // of 2 x 10 s
  EXPECT_EQ(verdict(stats, cpu, {}),
            "CPU-bound: 5.00 GB/s from the page cache, busy 95 % (ceilings not measured: ooc-run "
            "bench FILE)");
  EXPECT_EQ(verdict(stats, cpu, {.page_cache = 12e9, .kernel = 10e9}),
            "CPU-bound: 5.00 of 5.45 GB/s (92 %) from the page cache; more streams will not help, "
            "more cores would");
}

TEST(VerdictWithCeilings, TheKernelBoundsOnTheCpu) {
  ooc::Stats stats = ten_seconds();
  stats.layout.page_cache_fraction = 1.0;
  stats.timing.disk.busy = 4;
  stats.timing.kernel.busy = 19.6;
  EXPECT_EQ(verdict(stats, cpu, {.disk = 3e9, .page_cache = 17e9, .kernel = 5.4e9}),
            "kernel-bound: 5.00 of 5.40 GB/s (93 %) from the page cache; reading idle 60 %; more "
            "streams will not help, more cores would (up to 3x)");
}

TEST(VerdictWithCeilings, AKernelThatWasNotMeasured) {
  ooc::Stats stats = ten_seconds();
  stats.timing.disk.busy = 4;
  stats.timing.kernel.busy = 19.4;
  EXPECT_EQ(verdict(stats, cuda, {.disk = 9e9}),
            "kernel-bound: 5.00 GB/s, busy 97 %; disk idle 60 %; a faster GPU would help");
}

TEST(VerdictWithCeilings, WritingIsNotMeasured) {
  ooc::Stats stats = ten_seconds();
  stats.outcome.bytes_written = 20'000'000'000;
  stats.timing.disk.busy = 6;
  stats.timing.write.busy = 9.5;
  EXPECT_EQ(verdict(stats, cuda, ceilings_with_gpu()),
            "write-bound: 5.00 GB/s, 2.00 GB/s written, busy 95 %; GPU idle 100 %, reading idle "
            "40 %; a faster disk to write to would help");
}

TEST(VerdictWithCeilings, CopyingBackIsComparedByWhatIsWritten) {
  ooc::Stats stats = ten_seconds();
  stats.layout.page_cache_fraction = 1.0;
  stats.outcome.bytes_written = 100'000'000'000;  // twice the input: d2h allows 5.5 GB/s of input
  stats.timing.d2h.busy = 19;
  Ceilings ceilings = ceilings_with_gpu();
  ceilings.d2h = 11e9;
  EXPECT_EQ(verdict(stats, cuda, ceilings),
            "copy-back-bound: 5.00 of 5.50 GB/s (91 %) from the page cache, 10.0 GB/s written; "
            "GPU idle 100 %, reading idle 100 %, writing idle 100 %; more streams will not help, a "
            "faster link would (up to 11x)");
}

TEST(VerdictWithCeilings, ALongStartUpDoesNotCount) {
  ooc::Stats stats = ten_seconds();
  stats.timing.startup_seconds = 0.9;  // less than a tenth
  stats.timing.disk.busy = 9;
  EXPECT_EQ(verdict(stats, cuda, {.disk = 5.2e9}).find("disk-bound: 5.00 of 5.20 GB/s (96 %)"), 0u);
  stats.timing.seconds = 12.5;
  stats.timing.startup_seconds = 2.5;
  EXPECT_EQ(verdict(stats, cuda, {.disk = 5.2e9}).find("disk-bound: 5.00 of 5.20 GB/s (96 %)"), 0u);
}

TEST(VerdictWithCeilings, AStartUpInWhichMuchWasReadCountsAsFarAsItWasUsed) {
  ooc::Stats stats = ten_seconds();
  stats.timing.startup_seconds = 2.5;
  stats.timing.disk.busy = 10;
  stats.layout.read_ahead_bytes = 1 << 30;
  EXPECT_EQ(verdict(stats, cuda, {.disk = 5.2e9}).find("disk-bound: 5.00 of 5.20 GB/s (96 %)"), 0u);
  stats.timing.seconds = 11.5;
  EXPECT_EQ(verdict(stats, cuda, {.disk = 5.2e9}).find("disk-bound: 5.00 of 5.20 GB/s (96 %)"), 0u);
}

}  // namespace
}  // namespace ooc_run
