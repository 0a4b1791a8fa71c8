#include "gemm/gemm.hpp"

#include <ooc/detail/base/shared_library.hpp>
#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cassert>
#include <latch>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace ooc::detail::gemm {
namespace {

// The part of OpenBLAS's cblas.h that is used. Sizes are int here; builds of OpenBLAS with 64-bit
// sizes have another library name.
enum Order : int { row_major = 101 };
enum Transpose : int { as_it_is = 111, transposed = 112 };

template <class T>
using CblasGemm = void(Order, Transpose, Transpose, int rows, int columns, int inner, T alpha,
                       const T* a, int a_stride, const T* b, int b_stride, T beta, T* c,
                       int c_stride);
using SetNumThreads = void(int);
using GetNumThreads = int();
using GetConfig = char*();

constexpr std::uint64_t largest_size = std::numeric_limits<int>::max();

/// Throws Error(memory) unless there is address space and there are threads for OpenBLAS. It does
/// not handle either failure: it retries to map a buffer for ever, and raises SIGINT if a thread
/// cannot be started.
void require_room_for_openblas(std::size_t threads, std::size_t callers) {
  constexpr std::size_t bytes_per_thread = 160 * MiB;  // a buffer of 128 MiB, stack, and heap
  constexpr std::size_t bytes_of_library = 64 * MiB;
  const std::size_t most = std::max<std::size_t>(threads, std::thread::hardware_concurrency());
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    // Each thread of OpenBLAS has a buffer, and so has each thread that calls it.
    const std::size_t bytes =
        bytes_of_library + (most + std::max(threads, callers)) * bytes_per_thread;
    void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
      throw Error(ErrorKind::memory, "OpenBLAS needs " + std::to_string(bytes) + " bytes to map",
                  {.why = "address space is limited",
                   .hint = "raise the limit (ulimit -v)",
                   .remedies = {{RemedyAction::lower, "Options::threads"}}});
    }
    ::munmap(room, bytes);
  }
  std::latch all_started(1);
  std::vector<std::jthread> trial;
  start_threads(trial, most, [&] { all_started.wait(); });
  all_started.count_down();
  if (trial.size() < most) {
    throw Error(ErrorKind::memory, "OpenBLAS needs " + std::to_string(most) + " threads",
                {.why = "only " + std::to_string(trial.size()) + " could be started",
                 .hint = "raise the limit on processes (`ulimit -u`, pids cgroup)"});
  }
}

SharedLibrary load_openblas(std::size_t threads, std::size_t callers) {
  require_room_for_openblas(threads, callers);
  constexpr const char* names[] = {"libopenblas.so.0", "libopenblas.so"};
  return {"OpenBLAS", names, ErrorKind::device, "apt-get install libopenblas0-pthread"};
}

/// Converts a stride to int, at least 1: OpenBLAS rejects 0 even for a matrix without columns.
int stride_of(std::uint64_t stride) {
  if (stride > largest_size) {
    throw Error(ErrorKind::bad_input, "OpenBLAS takes rows of up to " +
                                          std::to_string(largest_size) + " elements, not " +
                                          std::to_string(stride));
  }
  return static_cast<int>(std::max<std::uint64_t>(stride, 1));
}

/// Returns "OpenBLAS 0.3.21" for "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... MAX_THREADS=64".
std::string name_and_version(const std::string& config) {
  return config.substr(0, config.find(' ', config.find(' ') + 1));
}

template <class T>
class OpenBlasGemm final : public Gemm {
 public:
  OpenBlasGemm(const char* gemm, std::size_t threads, std::size_t callers)
      : library_(load_openblas(threads, callers)),
        gemm_(library_.function<CblasGemm<T>>(gemm)),
        set_num_threads_(library_.function<SetNumThreads>("openblas_set_num_threads")),
        name_(name_and_version(library_.function<GetConfig>("openblas_get_config")())),
        get_num_threads_(library_.function<GetNumThreads>("openblas_get_num_threads")),
        threads_(static_cast<int>(std::min<std::uint64_t>(threads, largest_size))) {
    set_num_threads_(threads_);
  }

  void multiply(Stream& /*stream*/, Matrix<const std::byte> a, Matrix<const std::byte> b,
                Matrix<std::byte> c, ProductShape sizes, bool accumulate) override {
    if (sizes.rows == 0 || sizes.columns == 0) return;
    const int a_stride = stride_of(a.stride);
    const int b_stride = stride_of(b.stride);
    const int c_stride = stride_of(c.stride);
    const T beta = accumulate ? T{1} : T{0};  // with 0, C is not read
    // The setting is global to the library, and other code may have changed it.
    if (get_num_threads_() != threads_) set_num_threads_(threads_);
    for (std::uint64_t row = 0; row < sizes.rows; row += largest_size) {
      const std::uint64_t rows = std::min(sizes.rows - row, largest_size);
      const std::uint64_t first = a.is_transposed ? row : row * a.stride;
      gemm_(row_major, a.is_transposed ? transposed : as_it_is, as_it_is, static_cast<int>(rows),
            static_cast<int>(sizes.columns), static_cast<int>(sizes.inner), T{1},
            reinterpret_cast<const T*>(a.data) + first, a_stride,
            reinterpret_cast<const T*>(b.data), b_stride, beta,
            reinterpret_cast<T*>(c.data) + row * c.stride, c_stride);
    }
  }

  std::string name() const override { return name_; }

 private:
  SharedLibrary library_;
  CblasGemm<T>* gemm_;
  SetNumThreads* set_num_threads_;
  std::string name_;
  GetNumThreads* get_num_threads_;
  int threads_;
};

}  // namespace

std::unique_ptr<Gemm> make_openblas_gemm(ElementType operand, std::size_t threads,
                                         std::size_t callers) {
  if (operand == ElementType::f8) {
    return std::make_unique<OpenBlasGemm<double>>("cblas_dgemm", threads, callers);
  }
  assert(operand == ElementType::f4);
  return std::make_unique<OpenBlasGemm<float>>("cblas_sgemm", threads, callers);
}

}  // namespace ooc::detail::gemm
