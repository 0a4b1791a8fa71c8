#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/error.hpp>

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

}  // namespace

EncodedArray::EncodedArray(std::vector<File> files, std::vector<Piece> pieces, Encoding encoding,
                           std::string name)
    : files_(std::move(files)),
      pieces_(std::move(pieces)),
      encoding_(std::move(encoding)),
      name_(std::move(name)),
      most_kept_(2 * std::max(std::thread::hardware_concurrency(), 1u) + 2) {
  const auto is_encoded = [](const File& file) { return file.encoded() != nullptr; };
  if (encoding_.fill.empty() || std::ranges::any_of(files_, is_encoded)) {
    throw Error(ErrorKind::internal, name_ + ": has no fill value, or files that are encoded");
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto& [end, offset, bytes, file] = pieces_[i];
    const std::uint64_t begin = begin_of(i);
    if (end <= begin) throw bad_piece(name_, i, "has no bytes in the array");
    most_decoded_bytes_ = std::max(most_decoded_bytes_, decoded_bytes(i));
    if (bytes == 0) continue;
    if (encoding_.whole_bytes != 0 && end - begin > encoding_.whole_bytes) {
      throw bad_piece(name_, i, "has more bytes in the array than it decodes to");
    }
    if (decoded_bytes(i) > most_piece_bytes || bytes > most_piece_bytes) {
      throw bad_piece(name_, i, "is larger than " + std::to_string(most_piece_bytes) + " bytes");
    }
    if (file >= files_.size() || offset > files_[file].size() ||
        bytes > files_[file].size() - offset) {
      throw bad_piece(name_, i, "is not in its file");
    }
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
  for (const Piece& piece : pieces_) {
    for (const std::uint64_t number :
         {piece.end, piece.offset, piece.bytes, std::uint64_t{piece.file}}) {
      text.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
  return text;
}

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
  const std::size_t last = index_of(most - 1);
  if (pieces_[last].end == most) return most;
  return begin_of(last) > begin ? begin_of(last) : pieces_[last].end;
}

void EncodedArray::read(std::uint64_t offset, std::span<std::byte> memory) const {
  assert(offset + memory.size() <= size());
  for (std::size_t piece = memory.empty() ? 0 : index_of(offset); !memory.empty(); ++piece) {
    const std::uint64_t begin = begin_of(piece), end = pieces_[piece].end;
    const auto part = memory.first(std::min<std::uint64_t>(memory.size(), end - offset));
    if (pieces_[piece].bytes == 0) {
      fill(offset, part);
    } else if (part.size() == decoded_bytes(piece) && !is_kept(piece)) {
      decode(piece, part);
    } else {
      copy_part(piece, offset - begin, part);
    }
    offset += part.size();
    memory = memory.subspan(part.size());
  }
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
  stored.resize(place.bytes);
  read_exactly(files_[place.file], place.offset, stored);
  stored_bytes_ += place.bytes;
  const auto began = std::chrono::steady_clock::now();
  try {
    detail::decode(encoding_.chain, stored, memory);
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
  const auto found = std::ranges::find(kept_, piece, [](const auto& each) { return each->index; });
  return found == kept_.end() ? nullptr : *found;
}

/// Copies a part of a piece, which is decoded unless it is kept.
void EncodedArray::copy_part(std::size_t piece, std::uint64_t from,
                             std::span<std::byte> memory) const {
  std::unique_lock lock(mutex_);
  for (;;) {
    const std::shared_ptr<Decoded> kept = find(piece);
    if (kept == nullptr) {
      decode_and_keep(piece, lock);
    } else if (!kept->is_ready) {
      if (!decode_ahead(piece, lock)) decoded_.wait(lock);
    } else {
      lock.unlock();
      std::memcpy(memory.data(), kept->bytes.get() + from, memory.size());
      lock.lock();
      const std::uint64_t read = kept->add_read(from, from + memory.size());
      if (read == pieces_[piece].end - begin_of(piece)) std::erase(kept_, kept);
      return;
    }
  }
}

/// Decodes a piece that is not kept, without the lock, which the caller holds.
void EncodedArray::decode_and_keep(std::size_t piece, std::unique_lock<std::mutex>& lock) const {
  const auto mine = std::make_shared<Decoded>();
  mine->index = piece;
  if (kept_.size() >= most_kept_) {  // parts of the oldest will perhaps never be read
    const auto oldest =
        std::ranges::find(kept_, true, [](const auto& kept) { return kept->is_ready; });
    if (oldest != kept_.end()) kept_.erase(oldest);
  }
  kept_.push_back(mine);
  lock.unlock();
  try {
    const std::uint64_t bytes = decoded_bytes(piece);
    mine->bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
    decode(piece, {mine->bytes.get(), bytes});
  } catch (...) {
    lock.lock();
    std::erase(kept_, mine);
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

std::uint64_t EncodedArray::Decoded::add_read(std::uint64_t from, std::uint64_t to) {
  read.emplace_back(from, to);
  std::ranges::sort(read);
  std::size_t last = 0;
  for (std::size_t i = 1; i < read.size(); ++i) {
    if (read[i].first <= read[last].second) {
      read[last].second = std::max(read[last].second, read[i].second);
    } else {
      read[++last] = read[i];
    }
  }
  read.resize(last + 1);
  std::uint64_t all = 0;
  for (const auto& [begin, end] : read) all += end - begin;
  return all;
}

EncodedArray::Work EncodedArray::work() const noexcept {
  constexpr double nanosecond = 1e-9;
  return {.stored_bytes = stored_bytes_.load(),
          .decoded_pieces = decoded_pieces_.load(),
          .seconds = static_cast<double>(nanoseconds_.load()) * nanosecond};
}

}  // namespace ooc::detail
