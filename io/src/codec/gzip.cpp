#include <ooc/detail/base/shared_library.hpp>
#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <array>
#include <string>

namespace ooc::detail {

namespace {

/// The functions of libdeflate, whose interface has been stable since version 1.0.
struct Deflate {
  using Context = void;
  using Decompress = int(Context*, const void*, std::size_t, void*, std::size_t, std::size_t*,
                         std::size_t*);

  SharedLibrary library{"libdeflate", std::array{"libdeflate.so.0"}, ErrorKind::usage,
                        "install it (apt-get install libdeflate0)"};
  Context* (*make_context)() = library.function<Context*()>("libdeflate_alloc_decompressor");
  void (*free_context)(Context*) = library.function<void(Context*)>("libdeflate_free_decompressor");
  /// These decode one member or stream. They return 0, and its size and that of what it decodes to.
  Decompress* gzip = library.function<Decompress>("libdeflate_gzip_decompress_ex");
  Decompress* zlib = library.function<Decompress>("libdeflate_zlib_decompress_ex");
};

const Deflate& deflate() {
  static const Deflate loaded;
  return loaded;
}

/// Returns the memory for decompression of this thread, which is used again and again.
Deflate::Context* deflate_context() {
  struct Free {
    void operator()(Deflate::Context* context) const { deflate().free_context(context); }
  };
  thread_local std::unique_ptr<Deflate::Context, Free> context;
  if (context == nullptr) context.reset(deflate().make_context());
  if (context == nullptr) throw Error(ErrorKind::memory, "there is no memory to decode gzip");
  return context.get();
}

class DeflateCodec final : public Codec {
 public:
  explicit DeflateCodec(bool is_gzip)
      : is_gzip_(is_gzip), decompress_(is_gzip ? deflate().gzip : deflate().zlib) {}

  std::string_view name() const noexcept override { return is_gzip_ ? "gzip" : "zlib"; }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    do {  // gzip may have several members, one behind the other
      std::size_t member = 0, made = 0;
      const int failed = decompress_(deflate_context(), encoded.data(), encoded.size(),
                                     decoded.data(), decoded.size(), &member, &made);
      if (failed == 1) throw bad("these bytes are not valid");
      if (failed != 0) throw bad("decodes to more or fewer bytes");
      encoded = encoded.subspan(member);
      decoded = decoded.subspan(made);
    } while (is_gzip_ && !encoded.empty());
    if (!encoded.empty() || !decoded.empty()) throw bad("decodes to more or fewer bytes");
  }

 private:
  Error bad(const char* problem) const {
    return {ErrorKind::bad_input, std::string(name()) + ": " + problem};
  }

  bool is_gzip_;
  Deflate::Decompress* decompress_;
};

}  // namespace

std::shared_ptr<const Codec> gzip_codec() {
  static const auto codec = std::make_shared<const DeflateCodec>(true);
  return codec;
}

std::shared_ptr<const Codec> zlib_codec() {
  static const auto codec = std::make_shared<const DeflateCodec>(false);
  return codec;
}

}  // namespace ooc::detail
