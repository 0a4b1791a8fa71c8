#include "codec/stream_decoder.hpp"

#include <ooc/detail/base/shared_library.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace ooc::detail {
namespace {

Error no_memory(const std::string& format) {
  return {ErrorKind::memory, "there is no memory to decode " + format};
}

class ZstdStream final : public StreamDecoder {
 public:
  ZstdStream() {
    if (context_ == nullptr) throw no_memory("zstd");
  }
  ~ZstdStream() override { free_(context_); }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;

  void decode(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    Input from{in.data(), in.size(), 0};
    Output to{out.data(), out.size(), 0};
    const std::size_t left = decompress_(context_, &to, &from);
    if (is_error_(left) != 0) {
      throw Error(ErrorKind::bad_input, "zstd: " + std::string(error_name_(left)));
    }
    // A call that does nothing tells what the next frame needs, not what this one does.
    if (from.place != 0 || to.place != 0) is_between_frames_ = left == 0;
    in = in.subspan(from.place);
    out = out.subspan(to.place);
  }

  bool is_between_frames() const noexcept override { return is_between_frames_; }

 private:
  struct Input {
    const void* bytes;
    std::size_t size, place;
  };
  struct Output {
    void* bytes;
    std::size_t size, place;
  };

  SharedLibrary library_{"libzstd", std::array{"libzstd.so.1"}, ErrorKind::usage,
                         "install it (apt-get install libzstd1)"};
  std::size_t (*decompress_)(void*, Output*, Input*) =
      library_.function<std::size_t(void*, Output*, Input*)>("ZSTD_decompressStream");
  unsigned (*is_error_)(std::size_t) = library_.function<unsigned(std::size_t)>("ZSTD_isError");
  const char* (*error_name_)(std::size_t) =
      library_.function<const char*(std::size_t)>("ZSTD_getErrorName");
  std::size_t (*free_)(void*) = library_.function<std::size_t(void*)>("ZSTD_freeDCtx");
  void* context_ = library_.function<void*()>("ZSTD_createDCtx")();
  bool is_between_frames_ = true;
};

class GzipStream final : public StreamDecoder {
 public:
  GzipStream() {
    constexpr int gzip_only = 15 + 16;
    const auto begin = library_.function<int(Stream*, int, const char*, int)>("inflateInit2_");
    if (begin(&stream_, gzip_only, "1.2", static_cast<int>(sizeof(Stream))) != 0) {
      throw no_memory("gzip");
    }
  }
  ~GzipStream() override { end_(&stream_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  void decode(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    constexpr int no_flush = 0, done = 0, at_end = 1, needs_more = -5;
    constexpr std::size_t most = std::numeric_limits<unsigned>::max();
    stream_.next_in = in.data();
    stream_.left_in = static_cast<unsigned>(std::min(in.size(), most));
    stream_.next_out = out.data();
    stream_.left_out = static_cast<unsigned>(std::min(out.size(), most));
    const int status = inflate_(&stream_, no_flush);
    if (status != done && status != at_end && status != needs_more) {
      const std::string why = stream_.message == nullptr ? "not valid" : stream_.message;
      throw Error(ErrorKind::bad_input, "gzip: " + why);
    }
    const auto read = static_cast<std::size_t>(stream_.next_in - in.data());
    const auto made = static_cast<std::size_t>(stream_.next_out - out.data());
    if (read != 0 || made != 0) is_between_frames_ = status == at_end;
    in = in.subspan(read);
    out = out.subspan(made);
    if (status == at_end) reset_(&stream_);  // another member may follow
  }

  bool is_between_frames() const noexcept override { return is_between_frames_; }

 private:
  /// z_stream of zlib 1, whose form has not changed since 1995.
  struct Stream {
    const std::byte* next_in;
    unsigned left_in;
    unsigned long all_in;
    std::byte* next_out;
    unsigned left_out;
    unsigned long all_out;
    const char* message;
    void* state;
    void *allocate, *free, *opaque;
    int data_type;
    unsigned long checksum, reserved;
  };

  SharedLibrary library_{"zlib", std::array{"libz.so.1"}, ErrorKind::usage,
                         "install it (apt-get install zlib1g)"};
  int (*inflate_)(Stream*, int) = library_.function<int(Stream*, int)>("inflate");
  int (*reset_)(Stream*) = library_.function<int(Stream*)>("inflateReset");
  int (*end_)(Stream*) = library_.function<int(Stream*)>("inflateEnd");
  Stream stream_{};
  bool is_between_frames_ = true;
};

class Lz4Stream final : public StreamDecoder {
 public:
  Lz4Stream() {
    constexpr unsigned version = 100;  // LZ4F_VERSION
    const auto make =
        library_.function<std::size_t(void**, unsigned)>("LZ4F_createDecompressionContext");
    if (is_error_(make(&context_, version)) != 0) throw no_memory("lz4");
  }
  ~Lz4Stream() override { free_(context_); }
  Lz4Stream(const Lz4Stream&) = delete;
  Lz4Stream& operator=(const Lz4Stream&) = delete;

  void decode(std::span<const std::byte>& in, std::span<std::byte>& out) override {
    std::size_t read = in.size(), made = out.size();
    const std::size_t left = decompress_(context_, out.data(), &made, in.data(), &read, nullptr);
    if (is_error_(left) != 0) {
      throw Error(ErrorKind::bad_input, "lz4: " + std::string(error_name_(left)));
    }
    if (read != 0 || made != 0) is_between_frames_ = left == 0;
    in = in.subspan(read);
    out = out.subspan(made);
  }

  bool is_between_frames() const noexcept override { return is_between_frames_; }

 private:
  SharedLibrary library_{"liblz4", std::array{"liblz4.so.1"}, ErrorKind::usage,
                         "install it (apt-get install liblz4-1)"};
  std::size_t (*decompress_)(void*, void*, std::size_t*, const void*, std::size_t*, const void*) =
      library_.function<std::size_t(void*, void*, std::size_t*, const void*, std::size_t*,
                                    const void*)>("LZ4F_decompress");
  unsigned (*is_error_)(std::size_t) = library_.function<unsigned(std::size_t)>("LZ4F_isError");
  const char* (*error_name_)(std::size_t) =
      library_.function<const char*(std::size_t)>("LZ4F_getErrorName");
  std::size_t (*free_)(void*) =
      library_.function<std::size_t(void*)>("LZ4F_freeDecompressionContext");
  void* context_ = nullptr;
  bool is_between_frames_ = true;
};

}  // namespace

std::unique_ptr<StreamDecoder> make_stream_decoder(Compression compression) {
  switch (compression) {
    case Compression::zstd: return std::make_unique<ZstdStream>();
    case Compression::gzip: return std::make_unique<GzipStream>();
    case Compression::lz4: return std::make_unique<Lz4Stream>();
  }
  throw Error(ErrorKind::internal, "a compression of no format");
}

}  // namespace ooc::detail
