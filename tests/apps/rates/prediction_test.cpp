#include "rates/prediction.hpp"

#include <gtest/gtest.h>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/sizing/io_config.hpp>

#include <nlohmann/json.hpp>

namespace ooc_run {
namespace {

using enum ooc::DeviceKind;

using Names = std::vector<std::string_view>;

/// Ceilings of a machine on which every stage has been measured.
Ceilings all_ceilings() {
  return {.disk = 5e9,
          .page_cache = 40e9,
          .h2d = 50e9,
          .d2h = 25e9,
          .kernel = 20e9,
          .start_seconds = 0.5};
}

Workload warm(double bytes) {
  return {.from_page_cache = bytes, .to_device = bytes, .through_kernel = bytes};
}

Workload cold(double bytes) {
  return {.from_disk = bytes, .to_device = bytes, .through_kernel = bytes};
}

TEST(Predict, TakesTheSlowestStageAndTheStart) {
  const auto disk = predict(cold(50e9), cuda, all_ceilings());
  EXPECT_DOUBLE_EQ(disk->seconds, 10.5);
  EXPECT_EQ(disk->stage, "disk");
  EXPECT_FALSE(disk->is_lower_bound());
  const auto kernel = predict(warm(50e9), cuda, all_ceilings());
  EXPECT_DOUBLE_EQ(kernel->seconds, 3);
  EXPECT_EQ(kernel->stage, "kernel");
  Ceilings slow_link = all_ceilings();
  slow_link.h2d = 10e9;
  EXPECT_DOUBLE_EQ(predict(warm(50e9), cuda, slow_link)->seconds, 5.5);
  EXPECT_EQ(predict(warm(1e9), cuda, all_ceilings())->stage, "start");
}

TEST(Predict, OnTheCpuCopiesAndKernelShareTheCores) {
  const auto all_cores = predict(warm(40e9), cpu, all_ceilings());
  EXPECT_DOUBLE_EQ(all_cores->seconds, 0.5 + 1 + 2);
  EXPECT_EQ(all_cores->stage, "cores");
  Workload on_a_quarter = warm(40e9);
  on_a_quarter.cores = 0.25;
  EXPECT_DOUBLE_EQ(predict(on_a_quarter, cpu, all_ceilings())->seconds, 0.5 + 4 + 8);
  EXPECT_DOUBLE_EQ(predict(cold(40e9), cpu, all_ceilings())->seconds, 0.5 + 8);
}

TEST(Predict, APlansOwnTimeTakesThePlaceOfTheKernels) {
  Workload product = cold(5e9);
  product.kernel_seconds = 7;
  product.cores = 0.5;
  EXPECT_DOUBLE_EQ(predict(product, cpu, {.disk = 5e9, .start_seconds = 1})->seconds, 8);
}

TEST(Predict, WhatIsNotMeasuredIsNamedAndNotInvented) {
  const auto bound = predict(cold(50e9), cpu, {.disk = 5e9, .start_seconds = 0.5});
  EXPECT_DOUBLE_EQ(bound->seconds, 10.5);
  EXPECT_TRUE(bound->is_lower_bound());
  EXPECT_EQ(bound->unmeasured, (Names{"kernel"}));
  EXPECT_EQ(predict(cold(50e9), cpu, {}), std::nullopt);

  Workload written = cold(50e9);
  written.to_output = 50e9;
  written.checksum = true;
  const auto all = predict(written, cuda, all_ceilings());
  EXPECT_EQ(all->unmeasured, (Names{"checksum", "write"}));
  EXPECT_DOUBLE_EQ(all->seconds, 10.5);
}

TEST(Predict, ADiskIsReadWhileAGpuStarts) {
  Workload work = cold(50e9);
  work.read_ahead = 1e9;  // takes 0.2 s of the 0.5 s of the start
  EXPECT_DOUBLE_EQ(predict(work, cuda, all_ceilings())->seconds, 10.3);
  work.read_ahead = 5e9;
  EXPECT_DOUBLE_EQ(predict(work, cuda, all_ceilings())->seconds, 10);
}

TEST(Predict, NothingTakesNothingButTheStart) {
  EXPECT_EQ(predict({}, cpu, all_ceilings())->seconds, 0.5);
  EXPECT_EQ(predict({}, cpu, {.disk = 1e9}), std::nullopt);
}

TEST(WorkOf, CountsAllPasses) {
  ooc::Stats pass;
  pass.outcome.records = 250;
  pass.outcome.bytes = 1000;
  pass.outcome.passes = 2;
  pass.layout.direct = true;
  pass.layout.page_cache_fraction = 0.25;  // direct reads bypass it
  pass.outcome.bytes_written = 500;
  pass.layout.streams = 2;
  const Workload work = work_of(pass, cuda, true);
  EXPECT_EQ(work.from_disk, 2000);
  EXPECT_EQ(work.from_page_cache, 0);
  EXPECT_EQ(work.to_device, 2000);
  EXPECT_EQ(work.through_kernel, 2000);
  EXPECT_EQ(work.to_output, 500);
  EXPECT_TRUE(work.checksum);
  EXPECT_EQ(work.cores, 1);

  pass.layout.in_order = false;  // cached parts are read from the page cache, in each pass
  EXPECT_EQ(work_of(pass, cuda, false).from_disk, 1500);
  EXPECT_EQ(work_of(pass, cuda, false).from_page_cache, 500);
}

TEST(Predict, DecodingIsAStage) {
  const Workload encoded{.decoded = 80e9, .to_device = 80e9, .through_kernel = 80e9};
  EXPECT_EQ(predict(encoded, cuda, all_ceilings())->unmeasured,
            std::vector<std::string_view>{"decode"});
  Ceilings known = all_ceilings();
  known.decode = 8e9;
  const auto gpu = predict(encoded, cuda, known);
  EXPECT_DOUBLE_EQ(gpu->seconds, 0.5 + 10);
  EXPECT_EQ(gpu->stage, "decode");
  EXPECT_GT(predict(encoded, cpu, known)->seconds, gpu->seconds) << "the cores also compute";
}

TEST(WorkOf, WhatIsEncodedIsDecoded) {
  ooc::Stats pass;
  pass.outcome.bytes = 1000;
  pass.layout.decodes = true;
  const Workload work = work_of(pass, cuda, false);
  EXPECT_EQ(work.decoded, 1000);
  EXPECT_EQ(work.from_disk, 0);
  EXPECT_EQ(work.from_page_cache, 0);
  EXPECT_EQ(work.to_device, 1000);
}

TEST(WorkOf, WhatTheDeviceKeepsIsNotReadAgain) {
  ooc::Stats pass;
  pass.outcome.bytes = 1000;
  pass.outcome.passes = 2;
  pass.outcome.resident_bytes = 600;
  pass.layout.direct = true;
  const Workload work = work_of(pass, cuda, false);
  EXPECT_EQ(work.from_disk, 1400);
  EXPECT_EQ(work.from_page_cache, 0);
  EXPECT_EQ(work.to_device, 1400);
  EXPECT_EQ(work.through_kernel, 2000);
}

TEST(WorkOf, WhatAPassBringsIntoThePageCacheTheNextOneFindsThere) {
  ooc::Stats pass;
  pass.outcome.bytes = 1000;
  pass.outcome.passes = 2;
  pass.layout.page_cache_fraction = 0.25;
  EXPECT_EQ(work_of(pass, cpu, false).from_disk, 750);
  EXPECT_EQ(work_of(pass, cpu, false).from_page_cache, 1250);
  pass.outcome.bytes = 1000 * ooc::detail::GiB * 1000;  // does not fit into the page cache
  EXPECT_EQ(work_of(pass, cpu, false).from_disk, 2 * 0.75 * 1e6 * ooc::detail::GiB);
}

TEST(WorkOf, HolesComeFromNoDisk) {
  ooc::Stats pass;
  pass.outcome.bytes = 1000;
  pass.layout.direct = true;
  pass.layout.hole_fraction = 0.75;
  EXPECT_EQ(work_of(pass, cuda, false).from_disk, 250);
  EXPECT_EQ(work_of(pass, cuda, false).from_page_cache, 750);
  pass.layout.hole_fraction = 1;
  EXPECT_EQ(work_of(pass, cuda, false).from_disk, 0);
}

TEST(WorkOf, FewStreamsUseFewCores) {
  ooc::Stats pass;
  pass.layout.streams = 1;
  const auto cores = static_cast<double>(ooc::detail::usable_cores());
  EXPECT_DOUBLE_EQ(work_of(pass, cpu, false).cores, 1 / cores);
  pass.layout.streams = 10000;
  EXPECT_EQ(work_of(pass, cpu, false).cores, 1);
}

TEST(DescribePrediction, ForPrograms) {
  EXPECT_EQ(describe(predict(cold(50e9), cpu, {.disk = 5e9})).dump(),
            R"({"seconds":10.0,"stage":"disk","unmeasured":["kernel","start"]})");
  EXPECT_TRUE(describe(std::optional<Prediction>{}).is_null());
  EXPECT_TRUE(describe(std::optional(Prediction{}))["stage"].is_null());
}

TEST(DescribePrediction, ForPeople) {
  EXPECT_EQ(explain(predict(cold(50e9), cuda, all_ceilings())), "10.5 s, bound by the disk");
  EXPECT_EQ(explain(std::optional<Prediction>{}, "several ranks"), "not known, of several ranks");
  EXPECT_EQ(explain(std::optional<Prediction>{}),
            "not known: ooc-run bench FILE measures what it takes to predict it");
  EXPECT_EQ(explain(predict(cold(50e9), cpu, {.disk = 5e9, .start_seconds = 0.5})),
            "at least 10.5 s; no ceiling is known of the kernel");
  Workload written = cold(50e9);
  written.to_output = 1;
  EXPECT_EQ(explain(predict(written, cpu, {.disk = 5e9})),
            "at least 10.0 s; no ceiling is known of the kernel, writing and "
            "the start (ooc-run bench FILE measures more)");
}

TEST(DescribePrediction, BesideTheFact) {
  EXPECT_EQ(beside_fact(predict(cold(50e9), cuda, all_ceilings()), 11),
            "; predicted 10.5 s, took 11.0 s");
  EXPECT_EQ(beside_fact(predict(cold(50e9), cpu, {.disk = 5e9}), 11),
            "; predicted at least 10.0 s, took 11.0 s");
  EXPECT_EQ(beside_fact({}, 11), "");
}

TEST(ExplainCeilings, SaysWhatIsKnown) {
  EXPECT_EQ(explain(Ceilings{.disk = 6.95e9, .kernel = 20e9}), "disk 6.95 GB/s, kernel 20.0 GB/s");
  EXPECT_EQ(explain(Ceilings{}), "none are measured: ooc-run bench FILE does");
}

}  // namespace
}  // namespace ooc_run
