#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace ooc::detail {

namespace {

Error bad_piece(const std::string& name, std::size_t piece, const std::string& what) {
  return {
      ErrorKind::bad_input, name + ": piece " + std::to_string(piece) + " " + what, {.path = name}};
}

/// Returns a chain without codec i for each bit i.
CodecChain without(const CodecChain& chain, std::uint32_t skipped) {
  CodecChain left;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if ((skipped >> i & 1) == 0) left.push_back(chain[i]);
  }
  return left;
}

/// Returns the number of bands of which decoded pieces are kept: twice as many as processors, and
/// two, since there may be more threads; or of tiles, of which threads decode different ones of the
/// same band, as many as the chunks of all threads touch. They take at most an eighth of the
/// memory, unless two bands are more.
std::size_t most_kept_bands(std::uint64_t band_bytes, bool has_tiles) {
  constexpr std::uint64_t longest_chunk = 32 * MiB, share_of_memory = 8;
  const std::uint64_t wanted = 2 * std::max(std::thread::hardware_concurrency(), 1u) + 2;
  const std::uint64_t touched =
      has_tiles ? divide_up(wanted * std::min(band_bytes, longest_chunk), band_bytes) + 2 : wanted;
  const auto memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                            static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  return std::min(touched, std::max<std::uint64_t>(memory_bytes / share_of_memory / band_bytes, 2));
}

}  // namespace

EncodedArray::EncodedArray(std::vector<File> files, std::vector<Piece> pieces, Encoding encoding,
                           std::string name)
    : files_(std::move(files)),
      pieces_(std::move(pieces)),
      encoding_(std::move(encoding)),
      name_(std::move(name)),
      grid_(encoding_.row) {
  const auto is_of_pieces = [](const File& file) { return file.encoded() != nullptr; };
  const bool cuts_tiles = !encoding_.row.empty() && encoding_.whole_bytes == 0;
  if (encoding_.fill.empty() || cuts_tiles || pieces_.size() % grid_.tiles() != 0 ||
      std::ranges::any_of(files_, is_of_pieces)) {
    throw Error(ErrorKind::internal,
                name_ + ": has no fill value, or tiles that are not whole, or encoded files");
  }
  const bool has_whole_rows = grid_.tiles() == 1 && grid_.row_bytes() == grid_.tile_row_bytes();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    check(i);
    longest_band_ = std::max(longest_band_, pieces_[i].end - begin_of(i));
    const bool is_last = i + 1 == pieces_.size();
    const bool is_whole = pieces_[i].bytes == 0 || pieces_[i].bytes == decoded_bytes(i);
    is_divisible_ &= !is_encoded() && has_whole_rows && is_whole;
    is_regular_ &=
        has_whole_rows && ((is_last && i != 0) || pieces_[i].end == (i + 1) * decoded_bytes(0));
  }
  if (longest_band_ == 0) return;
  const std::uint64_t band_bytes = std::max(longest_band_, encoding_.whole_bytes * grid_.tiles());
  most_kept_ = most_kept_bands(band_bytes, grid_.tiles() > 1) * grid_.tiles();
}

/// Throws Error(bad_input) unless a piece can be read.
void EncodedArray::check(std::size_t piece) const {
  const auto& [end, offset, bytes, file, skipped] = pieces_[piece];
  const std::uint64_t begin = begin_of(piece), rows = (end - begin) / grid_.row_bytes();
  const bool ends_with_band = end == pieces_[piece - tile_of(piece)].end;
  if (end <= begin || !ends_with_band || (end - begin) % grid_.row_bytes() != 0) {
    throw bad_piece(name_, piece, "has no bytes in the array");
  }
  std::uint64_t decoded_band = 0;
  const bool is_too_long =
      end - begin > most_piece_bytes ||
      __builtin_mul_overflow(grid_.tiles(), encoding_.whole_bytes, &decoded_band) ||
      decoded_band > most_piece_bytes;
  if (grid_.tiles() > 1 && is_too_long) {
    throw bad_piece(name_, piece,
                    "is of a band of more than " + std::to_string(most_piece_bytes) + " bytes");
  }
  if (encoding_.chain.size() < 32 && skipped >> encoding_.chain.size() != 0) {
    throw bad_piece(name_, piece, "has skipped codecs that there are not");
  }
  if (bytes == 0) return;
  std::uint64_t needed = 0;
  if (encoding_.whole_bytes != 0 &&
      (__builtin_mul_overflow(rows, grid_.tile_row_bytes(), &needed) ||
       needed > encoding_.whole_bytes)) {
    throw bad_piece(name_, piece, "has more bytes in the array than it decodes to");
  }
  if (decoded_bytes(piece) > most_piece_bytes || bytes > most_piece_bytes) {
    throw bad_piece(name_, piece, "is larger than " + std::to_string(most_piece_bytes) + " bytes");
  }
  if (file >= files_.size() || offset > files_[file].size() ||
      bytes > files_[file].size() - offset) {
    throw bad_piece(name_, piece, "is not in its file");
  }
}

std::string EncodedArray::fingerprint() const {
  std::string text = std::to_string(encoding_.whole_bytes) + " " +
                     std::to_string(encoding_.chain.size()) + " " +
                     std::to_string(encoding_.fill.size());
  for (const auto& codec : encoding_.chain) {
    text += " " + std::to_string(codec->name().size()) + " " + std::string(codec->name());
  }
  text.append(reinterpret_cast<const char*>(encoding_.fill.data()), encoding_.fill.size());
  for (const auto& [length, tile] : encoding_.row) {
    text += " " + std::to_string(length) + " " + std::to_string(tile);
  }
  for (const Piece& piece : pieces_) {
    for (const std::uint64_t number :
         {piece.end, piece.offset, piece.bytes, std::uint64_t{piece.file},
          std::uint64_t{piece.skipped_codecs}}) {
      text.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
  return text;
}

/// Returns the index of the first piece of the band that has a byte.
std::size_t EncodedArray::index_of(std::uint64_t byte) const noexcept {
  const auto found = std::ranges::upper_bound(pieces_, byte, {}, &Piece::end);
  return static_cast<std::size_t>(found - pieces_.begin());
}

std::uint64_t EncodedArray::decoded_bytes(std::size_t piece) const noexcept {
  if (encoding_.whole_bytes != 0) return encoding_.whole_bytes;
  return pieces_[piece].end - begin_of(piece);
}

std::uint64_t EncodedArray::end_of_request(std::uint64_t begin, std::uint64_t most) const noexcept {
  assert(begin < most && most <= size());
  const std::size_t last = index_of(most - 1);  // a piece of the last band
  if (pieces_[last].end == most) return most;
  if (begin_of(last) > begin) return begin_of(last);
  return is_divisible_ ? most : pieces_[last].end;
}

void EncodedArray::read(std::uint64_t offset, std::span<std::byte> memory) const {
  assert(offset + memory.size() <= size());
  std::size_t piece = memory.empty() ? 0 : index_of(offset);
  while (!memory.empty()) {
    const std::uint64_t begin = begin_of(piece), end = pieces_[piece].end;
    const auto bytes = memory.first(std::min<std::uint64_t>(memory.size(), end - offset));
    for (std::size_t tile = 0; tile < grid_.tiles(); ++tile) {
      read_piece(piece++, {offset - begin, bytes});
    }
    offset += bytes.size();
    memory = memory.subspan(bytes.size());
  }
}

/// Reads what a piece has of a part of its band.
void EncodedArray::read_piece(std::size_t piece, Part part) const {
  if (pieces_[piece].bytes == 0) {
    const std::uint64_t band = begin_of(piece);
    const auto fill_run = [&](std::uint64_t from, std::uint64_t, std::uint64_t bytes) {
      fill(band + from, part.memory.subspan(from - part.begin, bytes));
    };
    return grid_.visit_runs(tile_of(piece), part.begin, part.end(), fill_run);
  }
  if (is_divisible_) {
    const Piece& place = pieces_[piece];
    stored_bytes_ += part.memory.size();
    return read_exactly(files_[place.file], place.offset + part.begin, part.memory);
  }
  const bool is_all = grid_.tiles() == 1 && part.memory.size() == decoded_bytes(piece);
  if (is_all && !is_kept(piece)) return decode(piece, part.memory);
  copy_part(piece, part);
}

/// Writes the repeated fill value, whose first byte is byte 0 of the array.
void EncodedArray::fill(std::uint64_t offset, std::span<std::byte> memory) const {
  const std::vector<std::byte>& value = encoding_.fill;
  const std::size_t begun = std::min(memory.size(), value.size());
  for (std::size_t i = 0; i < begun; ++i) memory[i] = value[(offset + i) % value.size()];
  for (std::size_t done = begun; done < memory.size();) {  // doubles what is there
    const std::size_t whole = done / value.size() * value.size();
    const std::size_t more = std::min(whole, memory.size() - done);
    std::memcpy(memory.data() + done, memory.data(), more);
    done += more;
  }
}

/// Reads a piece and decodes it, into memory for all that it decodes to.
void EncodedArray::decode(std::size_t piece, std::span<std::byte> memory) const {
  thread_local std::vector<std::byte> stored;  // used again and again
  const Piece& place = pieces_[piece];
  stored_bytes_ += place.bytes;
  if (!is_encoded() && place.bytes == memory.size()) {
    read_exactly(files_[place.file], place.offset, memory);
    ++decoded_pieces_;
    return;
  }
  stored.resize(place.bytes);
  read_exactly(files_[place.file], place.offset, stored);
  const auto began = std::chrono::steady_clock::now();
  try {
    if (place.skipped_codecs == 0) {
      detail::decode(encoding_.chain, stored, memory);
    } else {
      detail::decode(without(encoding_.chain, place.skipped_codecs), stored, memory);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    throw damaged(piece, error);
  }
  ++decoded_pieces_;
  nanoseconds_ += static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count());
  constexpr std::size_t large_bytes = 32 * MiB;
  if (stored.size() > large_bytes) stored = {};
}

Error EncodedArray::damaged(std::size_t piece, const Error& error) const {
  const Piece& place = pieces_[piece];
  const std::filesystem::path& path = files_[place.file].path();
  return {ErrorKind::bad_input,
          name_ + ": piece " + std::to_string(piece) + " is damaged: " + error.what(),
          {.path = path,
           .offset = place.offset,
           .why = "its " + std::to_string(place.bytes) + " bytes are at byte " +
                  std::to_string(place.offset) + " of " + path.string(),
           .hint = "get the file once more from where it is whole"}};
}

bool EncodedArray::is_kept(std::size_t piece) const {
  const std::lock_guard lock(mutex_);
  return find(piece) != nullptr;
}

/// The caller holds the lock.
std::shared_ptr<EncodedArray::Decoded> EncodedArray::find(std::size_t piece) const {
  const auto found = kept_.find(piece);
  return found == kept_.end() ? nullptr : found->second;
}

/// Copies what a piece has of a part of its band. The piece is decoded unless it is kept.
void EncodedArray::copy_part(std::size_t piece, Part part) const {
  const std::size_t tile = tile_of(piece);
  const std::uint64_t copied = grid_.bytes_in(tile, part.begin, part.end());
  if (copied == 0) return;
  std::unique_lock lock(mutex_);
  for (;;) {
    const std::shared_ptr<Decoded> kept = find(piece);
    if (kept == nullptr) {
      decode_and_keep(piece, lock);
    } else if (!kept->is_ready) {
      if (!decode_ahead(piece, lock)) decoded_.wait(lock);
    } else {
      lock.unlock();
      const auto copy_run = [&](std::uint64_t from, std::uint64_t in_tile, std::uint64_t bytes) {
        std::memcpy(part.memory.data() + (from - part.begin), kept->bytes.get() + in_tile, bytes);
      };
      grid_.visit_runs(tile, part.begin, part.end(), copy_run);
      lock.lock();
      kept->unread_bytes -= std::min(kept->unread_bytes, copied);
      if (kept->unread_bytes == 0 && find(piece) == kept) kept_.erase(piece);
      return;
    }
  }
}

/// Decodes a piece that is not kept, without the lock, which the caller holds.
void EncodedArray::decode_and_keep(std::size_t piece, std::unique_lock<std::mutex>& lock) const {
  const auto mine = std::make_shared<Decoded>();
  if (kept_.size() >= most_kept_) {  // parts of the first will perhaps never be read
    const auto first =
        std::ranges::find_if(kept_, [](const auto& kept) { return kept.second->is_ready; });
    if (first != kept_.end()) kept_.erase(first);
  }
  kept_.emplace(piece, mine);
  lock.unlock();
  try {
    mine->unread_bytes = grid_.bytes_in(tile_of(piece), 0, pieces_[piece].end - begin_of(piece));
    const std::uint64_t bytes = decoded_bytes(piece);
    mine->bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
    decode(piece, {mine->bytes.get(), bytes});
  } catch (...) {
    lock.lock();
    kept_.erase(piece);
    decoded_.notify_all();
    throw;
  }
  lock.lock();
  mine->is_ready = true;
  decoded_.notify_all();
}

/// Decodes one of the next pieces, which other parts of the pass will need, unless enough are kept.
/// Returns false if there is none to decode.
bool EncodedArray::decode_ahead(std::size_t piece, std::unique_lock<std::mutex>& lock) const {
  constexpr std::size_t farthest = 8;
  const std::size_t end = std::min(piece + farthest, pieces_.size());
  if (kept_.size() >= most_kept_) return false;
  while (++piece < end) {
    if (pieces_[piece].bytes == 0 || find(piece) != nullptr) continue;
    try {
      decode_and_keep(piece, lock);
    } catch (...) {
      // The thread that needs this piece will fail by itself.
    }
    return true;
  }
  return false;
}

EncodedArray::Work EncodedArray::work() const noexcept {
  constexpr double nanosecond = 1e-9;
  return {.stored_bytes = stored_bytes_.load(),
          .decoded_pieces = decoded_pieces_.load(),
          .seconds = static_cast<double>(nanoseconds_.load()) * nanosecond};
}

}  // namespace ooc::detail
