// Tests that the library is a good guest of a program that uses CUDA itself.

#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE  // for <cuda/memory_resource> of CCCL 3.0

#include <ooc/chunks.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <cuda/memory_resource>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "device/cuda_context.hpp"
#include "io/expect_error.hpp"
#include "support/operators.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

/// Memory of the GPU that is in use, up to a limit.
class Counted final : public MemoryResource {
 public:
  explicit Counted(std::size_t limit) : limit_(limit) {}

  std::atomic<std::size_t> in_use{0}, calls{0};

  void* allocate(std::size_t bytes, std::size_t /*alignment*/) override {
    ++calls;
    void* data = nullptr;
    if (in_use + bytes > limit_ || cudaMalloc(&data, bytes) != cudaSuccess) throw std::bad_alloc();
    in_use += bytes;
    return data;
  }
  void deallocate(void* data, std::size_t bytes, std::size_t /*alignment*/) override {
    in_use -= bytes;
    EXPECT_EQ(cudaFree(data), cudaSuccess);
  }

 private:
  std::size_t limit_;
};

/// Keeps a stream busy for a millisecond or so, in which several chunks could be copied.
__global__ void wait_a_while() {
  const long long begin = clock64();
  while (clock64() - begin < 2'000'000) {
  }
}

/// A resource as RMM has them, with the functions that CCCL 3.0 wants and those that 3.1 wants. The
/// memory that it gives belongs to work on the default stream for a while.
class StreamOrdered {
 public:
  void* allocate(std::size_t bytes, std::size_t /*alignment*/) {
    return allocate(cudaStream_t{}, bytes, 0);
  }
  void deallocate(void* data, std::size_t bytes, std::size_t /*alignment*/) noexcept {
    deallocate(cudaStream_t{}, data, bytes, 0);
  }
  void* allocate_sync(std::size_t bytes, std::size_t alignment) {
    return allocate(bytes, alignment);
  }
  void deallocate_sync(void* data, std::size_t bytes, std::size_t alignment) noexcept {
    deallocate(data, bytes, alignment);
  }
  void* allocate(cuda::stream_ref stream, std::size_t bytes, std::size_t /*alignment*/) {
    void* data = nullptr;
    wait_a_while<<<1, 1, 0, stream.get()>>>();
    if (cudaMallocAsync(&data, bytes, stream.get()) != cudaSuccess) throw std::bad_alloc();
    ++in_use;
    return data;
  }
  void deallocate(cuda::stream_ref stream, void* data, std::size_t /*bytes*/,
                  std::size_t /*alignment*/) noexcept {
    --in_use;
    EXPECT_EQ(cudaFreeAsync(data, stream.get()), cudaSuccess);
  }
  friend bool operator==(const StreamOrdered& a, const StreamOrdered& b) { return &a == &b; }
  friend bool operator!=(const StreamOrdered& a, const StreamOrdered& b) { return &a != &b; }
  friend void get_property(const StreamOrdered&, cuda::mr::device_accessible) noexcept {}

  std::atomic<int> in_use{0};
};
static_assert(cuda::mr::resource<StreamOrdered>);

class GuestCudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_gpu().empty()) GTEST_SKIP() << "no GPU: " << why_no_gpu();
  }

  const std::vector<std::uint8_t> bytes_ = test::random_bits<std::uint8_t>(50'000'000);
  test::ValuesFile file_;
  const Source source_ = file_.source_of(bytes_);
};

TEST_F(GuestCudaTest, AllDeviceMemoryComesFromTheProgram) {
  Counted memory(~std::size_t{0});
  {
    Coordinator coordinator(make_cuda_device({.device_memory = &memory}));
    std::uint64_t expected = 0;
    for (const std::uint8_t byte : bytes_) expected += byte;
    EXPECT_EQ(fold(coordinator, test::Sum{}, source_).value, expected);
    EXPECT_GT(memory.in_use, 0u);
    EXPECT_EQ(memory.in_use, coordinator.device().device_memory().bytes_in_use());
  }
  EXPECT_GT(memory.calls, 0u);
  EXPECT_EQ(memory.in_use, 0u);
}

TEST_F(GuestCudaTest, MemoryOfAResourceOfCcclIsReadyForAllStreams) {
  StreamOrdered pool;
  MemoryResourceAdaptor memory(cuda::mr::resource_ref<cuda::mr::device_accessible>{pool});
  {
    Coordinator coordinator(make_cuda_device({.device_memory = &memory}));
    Device& device = coordinator.device();
    device.bind_to_thread();
    const int before = pool.in_use;
    const Buffer buffer(device.device_memory(), 1 << 20);
    EXPECT_EQ(cudaStreamQuery(cudaStreamLegacy), cudaSuccess);
    EXPECT_EQ(pool.in_use, before + 1);
    std::uint64_t expected = 0;
    for (const std::uint8_t byte : bytes_) expected += byte;
    EXPECT_EQ(fold(coordinator, test::Sum{}, source_).value, expected);
  }
  EXPECT_EQ(pool.in_use, 0);
}

TEST_F(GuestCudaTest, ItsLackOfMemoryIsAnErrorOfThePass) {
  Counted memory(1 << 16);
  Coordinator coordinator(make_cuda_device({.device_memory = &memory}));
  test::expect_error(ErrorKind::memory, "device memory",
                     [&] { fold(coordinator, test::Sum{}, source_); });
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(GuestCudaTest, TheProgramsGpuAndErrorsAreLeftAlone) {
  int gpus = 0;
  ASSERT_EQ(cudaGetDeviceCount(&gpus), cudaSuccess);
  Coordinator coordinator(make_device(DeviceKind::cuda, gpus - 1));
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  for (int pass = 0; pass < 3; ++pass) {
    void* none = nullptr;
    EXPECT_NE(cudaMalloc(&none, ~std::size_t{0} >> 1), cudaSuccess);  // an error of the program's
    fold(coordinator, test::Sum{}, source_);
    int gpu = -1;
    EXPECT_EQ(cudaGetDevice(&gpu), cudaSuccess);
    EXPECT_EQ(gpu, 0);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  }
}

// A thread is left without a context by no call of CUDA's runtime. cudaSetDevice(0) would create
// one on GPU 0, which the program may never use.
TEST_F(GuestCudaTest, AThreadThatNeverUsedCudaHasNoContextAfterwards) {
  int gpus = 0;
  ASSERT_EQ(cudaGetDeviceCount(&gpus), cudaSuccess);
  CudaContext context;
  std::thread([&] { ASSERT_EQ(context.create(gpus - 1), cudaSuccess); }).join();
  std::thread([&] {
    {
      Coordinator coordinator(make_device(DeviceKind::cuda, gpus - 1));
      fold(coordinator, test::Sum{}, source_);
      EXPECT_EQ(context.of_thread(), nullptr);
    }
    EXPECT_EQ(context.of_thread(), nullptr);
  }).join();
}

// The copies are on CUDA's default stream and on one of the program's, and nothing waits for them.
// Each comes long after the lease has died.
TEST_F(GuestCudaTest, ChunksAreGoodForWorkOnStreamsOfTheProgram) {
  Coordinator coordinator(make_device(DeviceKind::cuda));
  cudaStream_t own{};
  ASSERT_EQ(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), cudaSuccess);
  for (cudaStream_t stream : {cudaStream_t{}, own}) {
    std::uint8_t* copied = nullptr;
    ASSERT_EQ(cudaMalloc(&copied, bytes_.size()), cudaSuccess);
    Chunks chunks(coordinator, source_, {.rows = 1'000'000, .shuffle_seed = 9});
    while (const auto chunk = chunks.next(stream)) {
      const auto rows = chunk->rows<std::uint8_t>();
      wait_a_while<<<1, 1, 0, stream>>>();
      EXPECT_EQ(cudaMemcpyAsync(copied + rows.first, rows.data, rows.size, cudaMemcpyDeviceToDevice,
                                stream),
                cudaSuccess);
    }
    std::vector<std::uint8_t> seen(bytes_.size());
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(seen.data(), copied, seen.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(seen, bytes_);
    cudaFree(copied);
  }
  cudaStreamDestroy(own);
}

}  // namespace
}  // namespace ooc::detail
