#include <ooc/detail/base/shared_library.hpp>
#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <array>

namespace ooc::detail {

namespace {

/// The functions of libdeflate, whose interface has been stable since version 1.0.
struct Deflate {
  using Context = void;

  SharedLibrary library{"libdeflate", std::array{"libdeflate.so.0"}, ErrorKind::usage,
                        "install it (apt-get install libdeflate0)"};
  Context* (*make_context)() = library.function<Context*()>("libdeflate_alloc_decompressor");
  void (*free_context)(Context*) = library.function<void(Context*)>("libdeflate_free_decompressor");
  /// Decodes one member. Returns 0, and its size and that of what it decodes to.
  int (*decompress)(Context*, const void*, std::size_t, void*, std::size_t, std::size_t*,
                    std::size_t*) =
      library.function<int(Context*, const void*, std::size_t, void*, std::size_t, std::size_t*,
                           std::size_t*)>("libdeflate_gzip_decompress_ex");
};

class GzipCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "gzip"; }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    do {  // a file may have several members, one behind the other
      std::size_t member = 0, made = 0;
      const int failed = deflate_.decompress(context(), encoded.data(), encoded.size(),
                                             decoded.data(), decoded.size(), &member, &made);
      if (failed == 1) throw Error(ErrorKind::bad_input, "gzip: these bytes are not valid");
      if (failed != 0) throw wrong_size();
      encoded = encoded.subspan(member);
      decoded = decoded.subspan(made);
    } while (!encoded.empty());
    if (!decoded.empty()) throw wrong_size();
  }

 private:
  static Error wrong_size() {
    return {ErrorKind::bad_input, "gzip: decodes to more or fewer bytes"};
  }

  /// Returns the memory for decompression of this thread, which is used again and again.
  Deflate::Context* context() const {
    struct Free {
      void (*free_context)(Deflate::Context*);
      void operator()(Deflate::Context* context) const { free_context(context); }
    };
    thread_local std::unique_ptr<Deflate::Context, Free> context(nullptr,
                                                                 Free{deflate_.free_context});
    if (context == nullptr) context.reset(deflate_.make_context());
    if (context == nullptr) throw Error(ErrorKind::memory, "there is no memory to decode gzip");
    return context.get();
  }

  Deflate deflate_;
};

}  // namespace

std::shared_ptr<const Codec> gzip_codec() {
  static const auto codec = std::make_shared<const GzipCodec>();
  return codec;
}

}  // namespace ooc::detail
