#include "doctor/checks.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <ooc/detail/base/units.hpp>
#include <string>

namespace ooc_run {
namespace {

using State = HealthCheck::State;

void expect(const HealthCheck& check, State state, const std::string& words = {}) {
  EXPECT_EQ(check.state, state) << check.facts;
  EXPECT_FALSE(check.name.empty());
  EXPECT_FALSE(check.facts.empty());
  EXPECT_EQ(check.fix.empty(), state == State::ok) << check.facts;
  EXPECT_NE((check.facts + check.fix).find(words), std::string::npos) << check.facts << check.fix;
}

const ooc::detail::CudaFacts with_gpu{
    .built_for = 13000,
    .driver_allows = 13020,
    .why_no_gpu = {},
    .gpus = {{"NVIDIA H200", 150'754'820'096, 9, 0, "0000:1b:00.0"}},
    .architectures = "75 90"};
const ooc::detail::CudaFacts without_code{.built_for = 13000,
                                          .driver_allows = 13020,
                                          .why_no_gpu = {},
                                          .gpus = with_gpu.gpus,
                                          .architectures = "100"};
const ooc::detail::CudaFacts without_cuda{.why_no_gpu = "built without CUDA"};

TEST(DoctorChecks, AGpuIsNeededOnlyIfItIsWanted) {
  expect(check_gpu(with_gpu, 0), State::ok, "NVIDIA H200, 140 GiB, compute capability 9.0");
  expect(check_gpu(with_gpu, {}), State::ok);
  expect(check_gpu(without_cuda, {}), State::ok, "built without CUDA");
  const ooc::detail::CudaFacts without_driver{.built_for = 13000,
                                              .why_no_gpu = "no NVIDIA driver here"};
  expect(check_gpu(without_driver, {}), State::ok, "none: no NVIDIA driver here; the CPU does");
  expect(check_gpu(without_driver, 0), State::fail, "install NVIDIA's driver");
  ooc::detail::CudaFacts without_gpu = without_driver;
  without_gpu.driver_allows = 13000;
  expect(check_gpu(without_gpu, {}), State::warn);
  const HealthCheck missing = check_gpu(without_cuda, 0);
  expect(missing, State::fail, "built without CUDA");
  EXPECT_EQ(missing.kind, ooc::ErrorKind::device);
}

TEST(DoctorChecks, AGpuIsWantedByItsNumber) {
  ooc::detail::CudaFacts two = with_gpu;
  two.gpus.push_back(two.gpus.front());
  expect(check_gpu(two, 1), State::ok);
  const HealthCheck missing = check_gpu(with_gpu, 1);
  expect(missing, State::fail, "there is no GPU 1, the last is 0");
  EXPECT_EQ(missing.kind, ooc::ErrorKind::device);
  EXPECT_EQ(why_not_on_gpu(two, 1), "");
  EXPECT_EQ(why_not_on_gpu(two, 7), "there is no GPU 7, the last is 1");
  EXPECT_EQ(why_not_on_gpu(without_cuda, 0), "built without CUDA");
}

TEST(DoctorChecks, ADriverMustKnowTheRuntimeAndTheCodeTheGpu) {
  expect(check_driver(with_gpu), State::ok, "knows CUDA 13.2, this build is of 13.0 and for 75 90");
  expect(check_driver(without_code), State::warn, "-DCMAKE_CUDA_ARCHITECTURES=90");
  expect(check_driver(without_code), State::warn, "no code for compute capability 9.0");
  ooc::detail::CudaFacts old = with_gpu;
  old.driver_allows = 12080;
  expect(check_driver(old), State::warn, "newer driver");
}

TEST(DoctorChecks, AGpuThatIsWantedNeedsCodeInThisBuild) {
  expect(check_gpu(without_code, {}), State::ok, "NVIDIA H200");
  expect(check_gpu(without_code, 0), State::fail, "no code for compute capability 9.0");
  expect(check_gpu(without_code, 0), State::fail, "-DCMAKE_CUDA_ARCHITECTURES=90");
  EXPECT_EQ(why_not_on_gpu(without_code, 0),
            "this build has no code for compute capability 9.0, only for 100");
}

TEST(DoctorChecks, ALinkHasAllItsLanes) {
  expect(check_link("GPU", PcieLink{32, 32, 16, 16}), State::ok, "generation 5 x16, the best");
  expect(check_link("GPU", PcieLink{2.5, 32, 16, 16}), State::ok, "while idle");
  expect(check_link("GPU", PcieLink{32, 32, 8, 16}), State::warn, "x8, of generation 5 x16");
  expect(check_link("GPU", std::nullopt), State::ok, "not shown");
}

TEST(DoctorChecks, DiskAndGpuAreNearTheSameProcessor) {
  expect(check_numa(1, 1), State::ok, "GPU near node 1");
  expect(check_numa(1, 0), State::warn, "numactl --cpunodebind=1 --membind=1");
  expect(check_numa(1, std::nullopt), State::ok, "no node that is known");
}

TEST(DoctorChecks, KernelsHaveIoUringFromFiveSixOn) {
  expect(check_kernel("6.18.44-custom"), State::ok, "Linux 6.18.44-custom");
  expect(check_kernel("6.1.0"), State::ok, "roughly");
  expect(check_kernel("5.4.0-generic"), State::warn);
  expect(check_kernel("strange"), State::warn);
}

TEST(DoctorChecks, SaysWhatForbidsIoUring) {
  expect(check_io_uring({.usable = true}), State::ok);
  UringFacts refused{.why_not = "refused", .errno_value = EPERM};
  refused.disabled = 2;
  expect(check_io_uring(refused), State::warn, "sysctl -w kernel.io_uring_disabled=0");
  refused.disabled = 0;
  refused.filtered = true;
  expect(check_io_uring(refused), State::warn, "seccomp=unconfined");
  refused.filtered = false;
  refused.errno_value = ENOMEM;
  expect(check_io_uring(refused), State::warn, "ulimit -l");
  refused.errno_value = ENOSYS;
  expect(check_io_uring(refused), State::warn, "5.6");
}

TEST(DoctorChecks, LockedMemoryMattersOnlyIfItIsRefused) {
  UringFacts uring{.usable = true};
  expect(check_locked_memory(uring, 65536), State::ok, "65.5 KB");
  expect(check_locked_memory(uring, std::nullopt), State::ok, "none");
  uring.why_not_registered = "works without registered buffers";
  expect(check_locked_memory(uring, 65536), State::warn, "without registered buffers");
}

TEST(DoctorChecks, DirectIoIsMissedOnDisksOnly) {
  LocationFacts location{.path = "/data", .file_system = "ext4 /dev/vda"};
  expect(check_direct(location), State::ok, "works on ext4 /dev/vda");
  location.why_not_direct = "refused";
  expect(check_direct(location), State::warn, "not possible on ext4 /dev/vda: refused");
  location.in_memory = true;
  expect(check_direct(location), State::ok);
  location.known = false;
  expect(check_direct(location), State::warn, "ooc-run doctor FILE");
}

TEST(DoctorChecks, MemoryIsEnoughOrRunsFail) {
  expect(check_memory(64 * ooc::detail::GiB, 50 * ooc::detail::GiB), State::ok,
         "68.7 GB, of which 53.7 GB");
  expect(check_memory(64 * ooc::detail::GiB, 100 * ooc::detail::MiB), State::warn);
  const HealthCheck missing = check_memory(64 * ooc::detail::GiB, 20 * ooc::detail::MiB);
  expect(missing, State::fail);
  EXPECT_EQ(missing.kind, ooc::ErrorKind::memory);
}

TEST(DoctorChecks, GroupsMayHaveLessTimeThanCores) {
  expect(check_container("", {}), State::ok, "none seen");
  expect(check_container("docker", {.memory_bytes = 1 << 30, .cores = 8}), State::ok,
         "docker; memory up to 1.07 GB");
  expect(check_container("docker", {.cores = 1.5}), State::ok, "the time of 1.5 cores");
}

TEST(DoctorChecks, LimitsAreEnoughOrRunsFail) {
  expect(check_open_files(std::nullopt), State::ok);
  expect(check_open_files(1024), State::ok, "1,024");
  expect(check_open_files(100), State::warn);
  EXPECT_EQ(check_open_files(8).kind, ooc::ErrorKind::input);
}

TEST(DoctorChecks, AsManyThreadsAsAPassStarts) {
  const ooc::detail::Workers cpu{
      .lanes = 8, .reading_lanes = 8, .readers = 8, .writers = 4, .decoders = 8};
  const auto check = [&](std::uint64_t left) {
    return check_threads(ThreadLimit{left, "ulimit -u"}, cpu, 8);
  };
  expect(check_threads(std::nullopt, cpu, 8), State::ok, "without limit");
  expect(check(1000), State::ok, "1,000 more");
  expect(check(18), State::warn, "18 more by ulimit -u, of 56 that could be of use");
  EXPECT_EQ(check(18).fix, "raise ulimit -u, by 38 threads");
  expect(check(17), State::fail, "17 more by ulimit -u, of 18 that a pass starts");
  EXPECT_EQ(check(17).kind, ooc::ErrorKind::memory);
  const ooc::detail::Workers gpu{
      .lanes = 2, .reading_lanes = 2, .readers = 8, .writers = 4, .decoders = 8};
  expect(check_threads(ThreadLimit{17, "ulimit -u"}, gpu, 8), State::warn);
}

TEST(DoctorChecks, PngTakesAnotherProgram) {
  expect(check_png({}), State::ok, "PNG with rsvg-convert");
  expect(check_png("rsvg-convert: not found"), State::warn, "apt-get install librsvg2-bin");
}

TEST(DoctorChecks, OtherFacts) {
  expect(check_blas({.library = "OpenBLAS 0.3.21"}), State::ok, "OpenBLAS 0.3.21");
  expect(check_blas({.why = "not there", .hint = "install it"}), State::warn, "install it");
  expect(check_huge_pages("always"), State::ok);
  expect(check_huge_pages(""), State::ok);
  expect(check_huge_pages("never"), State::warn, "echo madvise");
  expect(check_processor("Some CPU", 8, "AVX2"), State::ok, "Some CPU, 8 cores, AVX2");
  expect(check_processor("Some CPU", 8, "SSE2"), State::warn);
  expect(check_ceilings("", false, {}), State::warn, "XDG_CACHE_HOME");
  expect(check_ceilings("/c", false, {}), State::warn, "cannot be written");
  expect(check_ceilings("/c", true, {}), State::warn, "ooc-run bench");
  expect(check_ceilings("/c", true, {}, "/c is not understood"), State::warn, "not understood");
  expect(check_ceilings("/c", true, {.disk = 4e9}), State::ok, "disk 4.00 GB/s");
}

}  // namespace
}  // namespace ooc_run
