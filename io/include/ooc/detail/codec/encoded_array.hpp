#pragma once

#include <ooc/detail/codec/codec.hpp>
#include <ooc/detail/codec/tile_grid.hpp>
#include <ooc/detail/file/file.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ooc::detail {

/// A sequence of bytes that are stored in pieces, of which each that is encoded is read whole.
/// A File stands for it, so a pass reads it as any file; whichever thread reads bytes also decodes
/// them.
///
/// The array is a sequence of bands. A band is one piece, or all tiles that have some of its rows,
/// which are copied into row-major order.
///
/// A piece of which only a part is wanted stays decoded until all of it has been read: chunks of a
/// pass may begin and end within bands. A thread that needs a piece which another one is decoding
/// decodes the next piece meanwhile.
///
/// Thread-safe. Memory: of each thread that reads, a stored piece; and kept_bytes().
class EncodedArray {
 public:
  /// The pieces of a band follow one another. A band begins where the one before ends.
  struct Piece {
    std::uint64_t end;     ///< of its band in the array (bytes)
    std::uint64_t offset;  ///< in its file (bytes)
    std::uint64_t bytes;   ///< as stored; 0: all of the piece is the fill value
    std::uint32_t file = 0;
    std::uint32_t skipped_codecs = 0;  ///< bit i: it is not encoded by codec i of the chain
  };

  /// The way in which all pieces are stored.
  struct Encoding {
    CodecChain chain{};
    /// Size of each piece when it is decoded (bytes), if pieces are stored whole beyond the end of
    /// the array. 0: they decode to what they have in the array.
    std::uint64_t whole_bytes = 0;
    std::vector<std::byte> fill{std::byte{0}};  ///< is repeated in pieces that are not stored
    /// How tiles divide the rows of a band. Empty: each band is one piece.
    std::vector<TileGrid::Side> row{};
  };

  /// `name`: for messages. The files are no encoded ones themselves. Throws Error(bad_input) if a
  /// piece has no bytes or is not in its file, or if a piece or a band of tiles has more than
  /// most_piece_bytes.
  EncodedArray(std::vector<File> files, std::vector<Piece> pieces, Encoding encoding,
               std::string name);

  static constexpr std::uint64_t most_piece_bytes = std::uint64_t{1} << 30;

  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return pieces_.empty() ? 0 : pieces_.back().end; }
  std::span<const File> files() const noexcept { return files_; }

  /// Returns the size of the longest band in the array (bytes).
  std::uint64_t longest_band() const noexcept { return longest_band_; }

  /// Returns the most memory that decoded pieces take (bytes). It is more only if threads need more
  /// pieces at the same time.
  std::uint64_t kept_bytes() const noexcept {
    return std::min(most_kept_, pieces_.size()) *
           (encoding_.whole_bytes != 0 ? encoding_.whole_bytes : longest_band_);
  }

  /// True if each band is one piece with whole rows, and all decode to the same length, but perhaps
  /// the last of several. A pass whose chunks begin and end with pieces then decodes all but that
  /// one into its slots.
  bool is_regular() const noexcept { return is_regular_; }

  /// False if pieces are stored as they are.
  bool is_encoded() const noexcept { return !encoding_.chain.empty(); }

  /// True if any part of a piece is read by itself: pieces are stored as they are, not in tiles.
  bool is_divisible() const noexcept { return is_divisible_; }

  /// Returns a text that differs for other places of the pieces, and for other codecs.
  std::string fingerprint() const;

  /// Returns where a request should end that begins at `begin` and might end at `most`: with the
  /// last band that ends before, or with the first one.
  std::uint64_t end_of_request(std::uint64_t begin, std::uint64_t most) const noexcept;

  /// Reads bytes of the array. Throws Error: `input`, `input_changed`; `bad_input` if a piece is
  /// damaged, with its number and its place.
  void read(std::uint64_t offset, std::span<std::byte> memory) const;

  /// The work so far, of all threads.
  struct Work {
    std::uint64_t stored_bytes = 0;
    std::uint64_t decoded_pieces = 0;
    double seconds = 0;  ///< of decoding, without reading
  };
  Work work() const noexcept;

 private:
  /// A piece that is decoded, or is being decoded.
  struct Decoded {
    std::unique_ptr<std::byte[]> bytes{};
    std::uint64_t unread_bytes = 0;
    bool is_ready = false;
  };

  /// The bytes of a band that are to be read.
  struct Part {
    std::uint64_t begin;  // in the band (bytes)
    std::span<std::byte> memory;
    std::uint64_t end() const noexcept { return begin + memory.size(); }
  };

  std::size_t tile_of(std::size_t piece) const noexcept { return piece % grid_.tiles(); }
  std::uint64_t begin_of(std::size_t piece) const noexcept {
    const std::size_t first = piece - tile_of(piece);
    return first == 0 ? 0 : pieces_[first - 1].end;
  }
  void check(std::size_t piece) const;
  std::size_t index_of(std::uint64_t byte) const noexcept;
  std::uint64_t decoded_bytes(std::size_t piece) const noexcept;
  void fill(std::uint64_t offset, std::span<std::byte> memory) const;
  void read_piece(std::size_t piece, Part part) const;
  void decode(std::size_t piece, std::span<std::byte> memory) const;
  void copy_part(std::size_t piece, Part part) const;
  std::shared_ptr<Decoded> find(std::size_t piece) const;
  void decode_and_keep(std::size_t piece, std::unique_lock<std::mutex>& lock) const;
  bool decode_ahead(std::size_t piece, std::unique_lock<std::mutex>& lock) const;
  bool is_kept(std::size_t piece) const;
  Error damaged(std::size_t piece, const Error& error) const;

  std::vector<File> files_;
  std::vector<Piece> pieces_;
  Encoding encoding_;
  std::string name_;
  TileGrid grid_;
  std::uint64_t longest_band_ = 0;  // bytes
  bool is_regular_ = true;
  bool is_divisible_ = true;
  std::size_t most_kept_ = 0;  // decoded pieces

  mutable std::mutex mutex_;
  mutable std::condition_variable decoded_;
  mutable std::map<std::size_t, std::shared_ptr<Decoded>> kept_;
  mutable std::atomic<std::uint64_t> stored_bytes_{0}, decoded_pieces_{0}, nanoseconds_{0};
};

}  // namespace ooc::detail
