#include <ooc/detail/base/shared_library.hpp>
#include <ooc/detail/codec/codec.hpp>
#include <ooc/error.hpp>

#include <array>
#include <string>

namespace ooc::detail {

namespace {

/// The functions of libzstd, whose interface has been stable since version 1.0.
struct Zstd {
  using Context = void;

  SharedLibrary library{"libzstd", std::array{"libzstd.so.1"}, ErrorKind::usage,
                        "install it (apt-get install libzstd1)"};
  Context* (*make_context)() = library.function<Context*()>("ZSTD_createDCtx");
  std::size_t (*free_context)(Context*) = library.function<std::size_t(Context*)>("ZSTD_freeDCtx");
  std::size_t (*decompress)(Context*, void*, std::size_t, const void*, std::size_t) =
      library.function<std::size_t(Context*, void*, std::size_t, const void*, std::size_t)>(
          "ZSTD_decompressDCtx");
  unsigned (*is_error)(std::size_t) = library.function<unsigned(std::size_t)>("ZSTD_isError");
  const char* (*error_name)(std::size_t) =
      library.function<const char*(std::size_t)>("ZSTD_getErrorName");
};

class ZstdCodec final : public Codec {
 public:
  std::string_view name() const noexcept override { return "zstd"; }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    const std::size_t made =
        zstd_.decompress(context(), decoded.data(), decoded.size(), encoded.data(), encoded.size());
    if (zstd_.is_error(made) != 0) {
      throw Error(ErrorKind::bad_input, "zstd: " + std::string(zstd_.error_name(made)));
    }
    if (made == decoded.size()) return;
    throw Error(ErrorKind::bad_input, "zstd: decodes to " + std::to_string(made) + " bytes, not " +
                                          std::to_string(decoded.size()));
  }

 private:
  /// Returns the memory for decompression of this thread, which is used again and again.
  Zstd::Context* context() const {
    struct Free {
      std::size_t (*free_context)(Zstd::Context*);
      void operator()(Zstd::Context* context) const { free_context(context); }
    };
    thread_local std::unique_ptr<Zstd::Context, Free> context(nullptr, Free{zstd_.free_context});
    if (context == nullptr) context.reset(zstd_.make_context());
    if (context == nullptr) throw Error(ErrorKind::memory, "there is no memory to decode zstd");
    return context.get();
  }

  Zstd zstd_;
};

}  // namespace

std::shared_ptr<const Codec> zstd_codec() {
  static const auto codec = std::make_shared<const ZstdCodec>();
  return codec;
}

}  // namespace ooc::detail
