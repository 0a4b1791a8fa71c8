// Measures a pass over pieces of zstd against libzstd alone, on as many threads.

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/shared_library.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench.hpp"

namespace ooc::detail::bench {

namespace {

/// A smooth field of f4 in pieces, each a frame of zstd, in a temporary file and in memory.
class Frames {
 public:
  Frames(std::uint64_t bytes, std::uint64_t piece_bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("ooc-bench-frames-" + std::to_string(getpid()))) {
    constexpr std::array names{"libzstd.so.1"};
    const SharedLibrary library("libzstd", names, ErrorKind::usage, "");
    const auto bound = library.function<std::size_t(std::size_t)>("ZSTD_compressBound");
    const auto compress =
        library.function<std::size_t(void*, std::size_t, const void*, std::size_t, int)>(
            "ZSTD_compress");
    constexpr int level = 3;
    std::ofstream file(path_, std::ios::binary);
    std::mt19937 random(1);
    for (std::uint64_t end = 0, offset = 0; end < bytes;) {
      const std::uint64_t size = std::min(piece_bytes, bytes - end);
      const std::vector<float> values = field(end / sizeof(float), size / sizeof(float), random);
      std::vector<std::byte> frame(bound(size));
      frame.resize(compress(frame.data(), frame.size(), values.data(), size, level));
      file.write(reinterpret_cast<const char*>(frame.data()),
                 static_cast<std::streamsize>(frame.size()));
      end += size;
      pieces_.push_back({end, offset, frame.size()});
      offset += frame.size();
      frames_.push_back(std::move(frame));
    }
  }
  ~Frames() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  std::size_t count() const { return frames_.size(); }

  std::shared_ptr<const EncodedArray> array() const {
    std::vector<File> files;
    files.push_back(File::open(path_));
    return std::make_shared<const EncodedArray>(
        std::move(files), pieces_, EncodedArray::Encoding{.chain = {zstd_codec()}}, "frames");
  }

  /// Decodes all frames on all processors, each into memory of its thread. Returns the seconds.
  double decode_alone() const {
    const auto codec = zstd_codec();
    std::atomic<std::size_t> next{0};
    const auto began = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u); ++i) {
        threads.emplace_back([&] {
          std::vector<std::byte> memory;
          for (std::size_t k = 0; (k = next++) < frames_.size();) {
            memory.resize(pieces_[k].end - (k == 0 ? 0 : pieces_[k - 1].end));
            codec->decode(frames_[k], memory);
          }
        });
      }
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

 private:
  /// Sums of waves, rounded to steps: zstd makes half of them or less.
  static std::vector<float> field(std::uint64_t first, std::size_t count, std::mt19937& random) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = static_cast<double>(first + i);
      const double wave = std::sin(x * 1e-4) + 0.3 * std::sin(x * 3.1e-3);
      const auto noise = static_cast<double>(random() % 8);
      constexpr double steps = 4096;
      values[i] = static_cast<float>((std::round(wave * steps) + noise) / steps);
    }
    return values;
  }

  std::filesystem::path path_;
  std::vector<EncodedArray::Piece> pieces_;
  std::vector<std::vector<std::byte>> frames_;
};

}  // namespace

nlohmann::ordered_json decode(std::uint64_t bytes, std::uint64_t piece_bytes,
                              const PassOptions& options) {
  const Frames frames(bytes, piece_bytes);
  const auto array = frames.array();
  std::vector<File> files;
  files.push_back(File::of_pieces(array));
  const Source source =
      SourceAccess::of_files(std::move(files), {{0, 0, bytes}}, {ElementType::f4});
  Coordinator coordinator(make_device(options.cuda ? DeviceKind::cuda : DeviceKind::cpu),
                          options.coordinator);
  std::vector<double> alone, passes, ratios;
  Stats stats;
  run_once(coordinator, source, options.operation);  // a warm-up
  const std::uint64_t decoded_before = array->work().decoded_pieces;
  for (int run = 0; run < options.runs; ++run) {
    alone.push_back(static_cast<double>(bytes) / frames.decode_alone());
    stats = run_once(coordinator, source, options.operation);
    passes.push_back(static_cast<double>(bytes) / stats.timing.seconds);
    ratios.push_back(passes.back() / alone.back());
  }
  const auto decoded = static_cast<double>(array->work().decoded_pieces - decoded_before);
  return {{"operation", options.operation},
          {"bytes", bytes},
          {"piece_bytes", piece_bytes},
          {"ratio", static_cast<double>(bytes) / static_cast<double>(array->files()[0].size())},
          {"device", stats.layout.device},
          {"chunk_bytes", stats.layout.chunk_bytes},
          {"streams", stats.layout.streams},
          {"threads", stats.layout.threads},
          {"decodings_a_piece",
           decoded / static_cast<double>(options.runs) / static_cast<double>(frames.count())},
          {"zstd_alone_bytes_per_second", spread(alone)},
          {"bytes_per_second", spread(passes)},
          {"to_zstd_alone", spread(ratios)}};
}

}  // namespace ooc::detail::bench
