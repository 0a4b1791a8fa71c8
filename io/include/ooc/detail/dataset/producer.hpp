#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

namespace ooc {

/// Makes or receives bytes in their order: a generator, a pipe, a socket, a decompressor. A Source
/// that is made of one can be read once, from beginning to end.
///
///     class Ones final : public ooc::Producer {
///      public:
///       std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
///         const std::size_t bytes = std::min<std::uint64_t>(room.size(), left_);
///         std::memset(room.data(), 1, bytes);
///         left_ -= bytes;
///         return bytes;
///       }
///      private:
///       std::uint64_t left_ = 1'000'000;
///     };
///     const ooc::Source ones = ooc::produced(std::make_unique<Ones>(), {ooc::ElementType::u1});
class OOC_API Producer {
 public:
  virtual ~Producer() = default;

  /// Fills the beginning of `room`, which is not empty, and returns how many bytes it has put
  /// there; 0 only at the end. It may block, but is to return soon after `stop` is requested, with
  /// what it has by then. A pass calls it on one thread, with room in page-locked memory if it runs
  /// on a GPU. What it throws ends the pass.
  virtual std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) = 0;

  /// The name of the data in messages.
  virtual std::string name() const { return "the producer"; }

  /// After the end: how many bytes there were behind the data, which are not part of them.
  virtual std::uint64_t bytes_behind() const { return 0; }
};

/// Returns a producer that reads a pipe, a socket, a terminal or a file from where it is, to its
/// end. The descriptor stays open, and must do so until the pass has ended. A pipe is enlarged to
/// 1 MiB if the system allows that. Throws Error(input) when it cannot be read.
OOC_API std::unique_ptr<Producer> read_descriptor(int descriptor, std::string name);

/// Returns a producer of a part of what another one makes: `bytes` bytes behind the first `skip`
/// ones, or all that follow. Its fill() throws Error(bad_input) if the other one ends before.
OOC_API std::unique_ptr<Producer> part_of(std::unique_ptr<Producer> whole, std::uint64_t skip,
                                          std::optional<std::uint64_t> bytes = {});
/// True if the path is that of a pipe: a FIFO, what `<(command)` of a shell stands for, or
/// /dev/stdin where that is one.
OOC_API bool is_pipe(const std::filesystem::path& path);

/// Opens a pipe by its path, and returns a producer that reads it to its end. Does not wait for a
/// writer: the first call of fill() does. Throws Error(input) if it cannot be opened or read.
OOC_API std::unique_ptr<Producer> read_pipe(const std::filesystem::path& path);

}  // namespace ooc
