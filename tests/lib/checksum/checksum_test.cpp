#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "checksum/xxh3.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"
#include "support/wrapped_engine.hpp"

namespace ooc::detail {
namespace {

constexpr const char* of_nothing = "99aa06d3014798d86001c324468d497f";  // xxh128sum /dev/null

std::string text_of(XXH128_hash_t hash) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  std::string text;
  for (const unsigned char byte : bytes.digest) {
    for (const unsigned digit : {byte / 16u, byte % 16u}) text += "0123456789abcdef"[digit];
  }
  return text;
}

std::string one_shot(std::span<const std::byte> bytes) {
  return text_of(XXH3_128bits(bytes.data(), bytes.size()));
}

TEST(Checksum, OfNothing) {
  EXPECT_EQ(Checksum().text(), of_nothing);
}

TEST(Checksum, IsTheSameWithAllVectorInstructions) {
  std::vector<xxh3::Update*> updates{&xxh3::update_sse2, &xxh3::best_update()};
  if (__builtin_cpu_supports("avx2")) updates.push_back(&xxh3::update_avx2);
  const auto bytes = test::random_bytes(70'000, 1);
  for (const std::size_t first : {0u, 1u, 63u, 255u, 256u, 257u, 4097u}) {
    for (xxh3::Update* const begin : updates) {
      for (xxh3::Update* const end : updates) {
        XXH3_state_t state;
        XXH3_128bits_reset(&state);
        begin(state, bytes.data(), first);
        end(state, bytes.data() + first, bytes.size() - first);
        EXPECT_EQ(text_of(XXH3_128bits_digest(&state)), one_shot(bytes)) << first;
      }
    }
  }
}

TEST(Checksum, HashesChunksInOrderWhicheverLaneIsFirst) {
  auto bytes = test::random_bytes(100'000, 2);
  constexpr std::size_t chunks = 16;
  const auto begin_of = [&](std::size_t k) { return bytes.size() * k * k / (chunks * chunks); };
  Checksum checksum;
  {
    std::vector<std::jthread> lanes;
    for (std::size_t k = chunks; k-- > 0;) {
      lanes.emplace_back([&, k] {
        // With what is around it: more than the first segment has, in some.
        const std::size_t before = std::min<std::size_t>(begin_of(k), 5 * k);
        const std::size_t after = std::min(bytes.size() - begin_of(k + 1), k);
        const std::size_t size = begin_of(k + 1) - begin_of(k);
        const std::span all(bytes.data() + begin_of(k) - before, before + size + after);
        Chunk chunk{.index = k, .segments = {all.first(all.size() / 40)}};
        chunk.segments.push_back(all.subspan(all.size() / 40));
        checksum.add(chunk, before, size);
      });
    }
  }
  EXPECT_EQ(checksum.text(), one_shot(bytes));
  EXPECT_GT(checksum.seconds_busy(), 0);
}

TEST(Checksum, WaitsNoLongerWhenThePassIsAborted) {
  Checksum checksum;
  std::jthread lane([&] { EXPECT_THROW(checksum.add({.index = 1}), Aborted); });
  checksum.turns().abort();
}

/// Flips a bit of the byte at offset `place` of a file when it is read.
class FlippingEngine final : public test::WrappedEngine {
 public:
  FlippingEngine(std::unique_ptr<Engine> engine, std::uint64_t place)
      : WrappedEngine(std::move(engine)), place_(place) {}

  Request& wait() override {
    Request& request = WrappedEngine::wait();
    if (request.offset <= place_ && place_ < request.offset + request.done) {
      request.memory[place_ - request.offset] ^= std::byte{16};
    }
    return request;
  }

 private:
  std::uint64_t place_;
};

class PassChecksumTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  std::filesystem::path make_file(const std::string& name, std::size_t bytes,
                                  std::size_t header = 0) {
    const auto values = test::random_bytes(bytes, static_cast<unsigned>(bytes));
    const auto path = dir_.path() / name;
    test::write_file(path, values, header);
    contents_.insert(contents_.end(), values.begin(), values.end());
    return path;
  }

  Stats run(const Source& source, Options options, std::size_t element_bytes = 1) {
    Coordinator coordinator(make_device(GetParam()), std::move(options));
    test::Visit operation;
    return run_pass(coordinator, source, element_bytes, operation, {.checksum = true});
  }

  test::TempDir dir_;
  std::vector<std::byte> contents_;
};

/// A fixture for the CPU only, where the slots are the only buffers. The lanes of a GPU have their
/// own.
class CpuPassChecksumTest : public PassChecksumTest {};

TEST_P(PassChecksumTest, IsThatOfTheFile) {
  const auto path = make_file("data.bin", 21 * 65536 + 4321);
  const Source source = open_bytes(path);
  for (const std::size_t chunk_bytes : {1u, 100'000u, 8'000'000u}) {
    for (const std::size_t streams : {1u, 2u, 5u, 40u}) {
      for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
        for (const DirectIo direct : {DirectIo::automatic, DirectIo::yes, DirectIo::no}) {
          if (direct == DirectIo::yes && files_of(source)[0].direct() < 0) continue;
          const Stats stats = run(
              source,
              {.chunk_bytes = chunk_bytes, .streams = streams, .engine = engine, .direct = direct});
          EXPECT_EQ(stats.outcome.checksum, one_shot(contents_)) << chunk_bytes << ' ' << streams;
          EXPECT_GT(stats.timing.checksum_seconds, 0);
        }
      }
    }
  }
}

TEST_P(PassChecksumTest, IsNotMadeUnlessItIsAskedFor) {
  const Source source = open_bytes(make_file("data.bin", 100'000));
  Coordinator coordinator(make_device(GetParam()));
  test::Visit operation;
  EXPECT_EQ(run_pass(coordinator, source, 1, operation).outcome.checksum, std::nullopt);
}

TEST_P(PassChecksumTest, OfNoBytesIsThatOfNothing) {
  const Source source = open_bytes(make_file("empty.bin", 0));
  EXPECT_EQ(run(source, {}).outcome.checksum, of_nothing);
}

TEST_P(PassChecksumTest, TakesWhatLiesInTheFilesOneAfterAnother) {
  std::vector<std::filesystem::path> paths;
  for (std::size_t i = 0; i < 9; ++i) {
    paths.push_back(make_file(std::to_string(i) + ".f64", 8 * (1000 + 7777 * i), 13));
  }
  // The operator gets gathered and swapped bytes. The checksum is that of the bytes in the files.
  const Source source = open(paths, {.type = DType{ElementType::f8, true}, .offset = 13});
  for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
    for (const std::size_t streams : {1u, 3u}) {
      const Stats stats = run(source, {.streams = streams, .direct = direct}, 8);
      EXPECT_EQ(stats.outcome.checksum, one_shot(contents_));
    }
  }
}

TEST_P(PassChecksumTest, LeavesOutTheHeaderOfAnNpyFile) {
  const auto values = test::random_bytes(4 * 100'000, 3);
  std::string header = "{'descr': '>f4', 'fortran_order': False, 'shape': (100000,), }\n";
  std::string file{"\x93NUMPY\x01\x00", 8};
  file += {static_cast<char>(header.size()), '\0'};
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size());
  const Source source = open(dir_.write("data.npy", file));
  EXPECT_EQ(run(source, {.chunk_bytes = 1, .streams = 2}, 4).outcome.checksum, one_shot(values));
}

TEST_P(CpuPassChecksumTest, IsThereWithTheFewestSlots) {
  const Source source = open_bytes(make_file("data.bin", 40 * 65536 + 1));
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    for (const std::size_t slots : {1u, 2u, 3u, 5u}) {
      const Stats stats = run(source, {.chunk_bytes = 65536,
                                       .streams = 4,
                                       .memory_bytes = slots * (65536 + 2 * page_bytes),
                                       .engine = engine});
      EXPECT_EQ(stats.outcome.checksum, one_shot(contents_));
      EXPECT_LE(stats.layout.slots, slots);
    }
  }
}

TEST_P(PassChecksumTest, TellsOfAFlippedBit) {
  const Source source = open_bytes(make_file("data.bin", 21 * 65536));
  for (const std::uint64_t place : {0u, 300'000u, 21u * 65536 - 1}) {
    Options options{.chunk_bytes = 65536, .streams = 3};
    options.make_engine = [place](const EngineOptions& wanted) {
      return std::make_unique<FlippingEngine>(make_engine(wanted), place);
    };
    const Stats stats = run(source, options);
    EXPECT_NE(stats.outcome.checksum, one_shot(contents_));
    contents_[place] ^= std::byte{16};
    EXPECT_EQ(stats.outcome.checksum, one_shot(contents_)) << "of what was read";
    contents_[place] ^= std::byte{16};
  }
}

TEST_P(PassChecksumTest, IsThatOfTheInputOfAMap) {
  const Source source = open_bytes(make_file("data.bin", 40 * 65536 + 1));
  for (const std::size_t streams : {1u, 2u, 5u}) {
    TargetFile file({.path = dir_.path() / "out.u8", .type = {ElementType::u1}, .replace = true},
                    source.bytes(), {});
    const Output output{file, 1};
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 65536, .streams = streams});
    test::Visit operation;
    EXPECT_EQ(run_pass(coordinator, source, 1, operation, {.checksum = true}, {&output, 1})
                  .outcome.checksum,
              one_shot(contents_));
  }
}

// Without a checksum, cached and uncached chunks of such a file would be read by turns.
TEST_P(PassChecksumTest, ReadsAHalfCachedFileInOrder) {
  const auto path = make_file("data.bin", 64 * 65536 + 4321);
  const test::HeldInPageCache held(path, 32 * 65536);
  test::evict(path, 32 * 65536);
  const Source source = open_bytes(path);
  const std::string why_not = test::why_not_half_cached(source);
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  const Stats stats = run(source, {.chunk_bytes = 65536, .streams = 3});
  EXPECT_TRUE(stats.layout.in_order);
  EXPECT_EQ(stats.outcome.checksum, one_shot(contents_));
  EXPECT_EQ(std::ranges::count(stats.layout.reasons, Reason{ReasonKind::ordered_reads}), 1);
}

TEST_P(PassChecksumTest, IsNoneOfAPassThatWasStopped) {
  const Source source = open_bytes(make_file("data.bin", 200 * 65536));
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    for (const std::size_t streams : {1u, 3u, 8u}) {
      for (const std::uint64_t after : {0u, 5u, 40u}) {
        std::stop_source stop;
        Coordinator coordinator(make_device(GetParam()),
                                {.chunk_bytes = 65536, .streams = streams, .engine = engine});
        test::Visit operation(test::at(after * 65536, [&] { stop.request_stop(); }));
        const Stats stats =
            run_pass(coordinator, source, 1, operation,
                     {.stop = stop.get_token(), .checksum = true, .keep_partial = true});
        EXPECT_EQ(stats.outcome.checksum.has_value(), !stats.outcome.partial);
      }
    }
  }
}

// The lane of the failed chunk never takes its next chunk, and the other lanes wait for the turn of
// that chunk.
TEST_P(PassChecksumTest, AnErrorEndsTheWaitsForATurn) {
  const Source source = open_bytes(make_file("data.bin", 60 * 65536));
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    for (const std::uint64_t chunk : {0u, 7u, 31u}) {
      Coordinator coordinator(make_device(GetParam()),
                              {.chunk_bytes = 65536, .streams = 3, .engine = engine});
      test::Visit operation(test::at(chunk * 65536, [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the others do wait
        throw std::runtime_error("the operator's own error");
      }));
      EXPECT_THROW(run_pass(coordinator, source, 1, operation, {.checksum = true}),
                   std::runtime_error);
      EXPECT_EQ(run(source, {}).outcome.checksum, one_shot(contents_))
          << "the next pass is a new one";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PassChecksumTest, test::all_devices, test::device_name);
INSTANTIATE_TEST_SUITE_P(All, CpuPassChecksumTest, testing::Values(DeviceKind::cpu),
                         test::device_name);

}  // namespace
}  // namespace ooc::detail
