#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/base/utf8.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {
namespace {

using namespace std::string_view_literals;

// The records of a zip archive and the bytes of each that are always there.
constexpr auto local_magic = "PK\3\4"sv, entry_magic = "PK\1\2"sv, end_magic = "PK\5\6"sv,
               end64_magic = "PK\6\6"sv, locator_magic = "PK\6\7"sv;
constexpr std::size_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56,
                      locator_bytes = 20;
constexpr std::size_t longest_comment = 65'535;
constexpr std::uint64_t longest_directory = 100'000'000;
constexpr std::string_view npy_ending = ".npy";

/// The place of the directory, which names the members.
struct Directory {
  std::uint64_t offset, bytes, members;
};

/// A member as the directory describes it.
struct Member {
  std::string name;
  std::uint64_t flags, method;
  std::uint64_t offset;         // of its local header
  std::uint64_t bytes, stored;  // sizes: of its content, and as it is stored
};

/// Reads the directory of an archive. Throws Error(bad_input) if it breaks a rule of the format.
class ZipReader {
 public:
  explicit ZipReader(const File& file) : file_(file) {}

  /// Returns the members in the order of the directory. No two of them overlap.
  std::vector<Member> members() {
    directory_ = find_directory();
    const std::string text = read(directory_.offset, directory_.bytes);
    std::vector<Member> all;
    std::size_t position = 0;
    for (std::uint64_t i = 0; i < directory_.members; ++i) all.push_back(next(text, position));
    if (position != text.size()) fail("has a directory that is longer than its entries");
    require_apart(all);
    return all;
  }

  /// Returns the offset of the content of a member. Its own header must agree with the directory.
  std::uint64_t content_of(const Member& member) const {
    const std::uint64_t names_end = member.offset + local_bytes + member.name.size();
    if (names_end > directory_.offset) fail_of(member, "begins in the directory");
    const std::string header = read(member.offset, local_bytes + member.name.size());
    const std::uint64_t offset = names_end + number_in(header, 28, 2);
    if (!header.starts_with(local_magic) || number_in(header, 8, 2) != member.method ||
        number_in(header, 26, 2) != member.name.size() ||
        header.substr(local_bytes) != member.name) {
      fail_of(member, "has a header that contradicts the directory");
    }
    if (offset > end_of(member) || member.stored > end_of(member) - offset) {
      fail_of(member, "overlaps what is behind it");
    }
    return offset;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw not_understood(file_.path(), problem);
  }

  [[noreturn]] void fail_of(const Member& member, const std::string& problem) const {
    fail("the member " + in_quotes(member.name) + " " + problem);
  }

  std::string read(std::uint64_t offset, std::uint64_t bytes) const {
    std::string text(bytes, '\0');
    if (bytes != 0) read_exactly(file_, offset, std::as_writable_bytes(std::span(text)));
    return text;
  }

  Directory find_directory() const {
    const std::uint64_t tail_bytes =
        std::min<std::uint64_t>(file_.size(), locator_bytes + end_bytes + longest_comment);
    const std::uint64_t tail_offset = file_.size() - tail_bytes;
    const std::string tail = read(tail_offset, tail_bytes);
    const std::size_t at = find_end(tail);
    if (number_in(tail, at + 4, 2) != number_in(tail, at + 6, 2)) fail("is a part of an archive");
    std::uint64_t end = tail_offset + at;
    Directory found{number_in(tail, at + 16, 4), number_in(tail, at + 12, 4),
                    number_in(tail, at + 10, 2)};
    if (at >= locator_bytes && tail.substr(at - locator_bytes).starts_with(locator_magic)) {
      end = number_in(tail, at - locator_bytes + 8, 8);
      found = find_large_directory(end);
    }
    if (found.members > most_arrays || found.bytes > longest_directory) {
      fail("has a directory of " + std::to_string(found.members) + " members and " +
           std::to_string(found.bytes) + " bytes; no more than a million and 100000000 are read");
    }
    if (found.offset > end || found.bytes != end - found.offset) {
      fail("has a directory that is not where the archive says");
    }
    return found;
  }

  /// Returns the position of the last record, behind which there is only a comment.
  std::size_t find_end(std::string_view tail) const {
    std::size_t at = tail.rfind(end_magic);
    while (at != std::string_view::npos) {
      const std::size_t left = tail.size() - at;
      if (left >= end_bytes && end_bytes + number_in(tail, at + 20, 2) == left) return at;
      at = at == 0 ? std::string_view::npos : tail.rfind(end_magic, at - 1);
    }
    fail("has no directory of a zip archive at its end; it may be truncated");
  }

  Directory find_large_directory(std::uint64_t offset) const {
    if (file_.size() < end64_bytes || offset > file_.size() - end64_bytes) {
      fail("has a directory that is not where the archive says");
    }
    const std::string record = read(offset, end64_bytes);
    if (!record.starts_with(end64_magic)) fail("has no directory where the archive says");
    return {number_in(record, 48, 8), number_in(record, 40, 8), number_in(record, 32, 8)};
  }

  /// Returns the entry at a position of the directory, and moves the position behind it.
  Member next(std::string_view text, std::size_t& position) const {
    const std::string_view entry = text.substr(position);
    if (entry.size() < entry_bytes || !entry.starts_with(entry_magic)) {
      fail("has a directory that ends within an entry");
    }
    const std::uint64_t name_bytes = number_in(entry, 28, 2), extra_bytes = number_in(entry, 30, 2);
    const std::uint64_t all_bytes =
        entry_bytes + name_bytes + extra_bytes + number_in(entry, 32, 2);
    if (entry.size() < all_bytes) fail("has a directory that ends within an entry");
    Member member{.name = std::string(entry.substr(entry_bytes, name_bytes)),
                  .flags = number_in(entry, 8, 2),
                  .method = number_in(entry, 10, 2),
                  .offset = number_in(entry, 42, 4),
                  .bytes = number_in(entry, 24, 4),
                  .stored = number_in(entry, 20, 4)};
    take_large_numbers(entry.substr(entry_bytes + name_bytes, extra_bytes), member);
    if (member.offset >= directory_.offset) fail_of(member, "lies behind the directory");
    position += all_bytes;
    return member;
  }

  /// Replaces numbers that do not fit in 32 bits by those of the extra field 1, in its order.
  void take_large_numbers(std::string_view extra, Member& member) const {
    constexpr std::uint64_t elsewhere = 0xffff'ffff;
    while (extra.size() >= 4) {
      const std::uint64_t kind = number_in(extra, 0, 2), bytes = number_in(extra, 2, 2);
      if (bytes > extra.size() - 4) break;
      std::string_view field = extra.substr(4, bytes);
      extra.remove_prefix(4 + bytes);
      if (kind != 1) continue;
      for (std::uint64_t* const number : {&member.bytes, &member.stored, &member.offset}) {
        if (*number != elsewhere) continue;
        if (field.size() < 8) fail_of(member, "has no size of 64 bits");
        *number = number_in(field, 0, 8);
        field.remove_prefix(8);
      }
    }
  }

  /// Notes where the room of each member ends, and that no name is there twice.
  void require_apart(const std::vector<Member>& all) {
    std::unordered_set<std::string_view> names;
    for (const Member& member : all) {
      if (!names.insert(member.name).second) fail_of(member, "is there twice");
      offsets_.push_back(member.offset);
    }
    offsets_.push_back(directory_.offset);
    std::ranges::sort(offsets_);
    if (std::ranges::adjacent_find(offsets_) != offsets_.end()) fail("has members that overlap");
  }

  /// Returns where the next member or the directory begins.
  std::uint64_t end_of(const Member& member) const {
    return *std::ranges::upper_bound(offsets_, member.offset);
  }

  const File& file_;
  Directory directory_{};
  std::vector<std::uint64_t> offsets_;  // of the members and the directory, sorted
};

/// Returns what a member holds that cannot be read; empty if its bytes are stored as they are.
std::string why_not_read(const Member& member) {
  constexpr std::uint64_t encrypted = 1, deflated = 8;
  if ((member.flags & encrypted) != 0) return "encrypted numbers";
  if (member.method == deflated) return "compressed numbers (numpy.savez stores them plainly)";
  if (member.method != 0) return "numbers compressed by method " + std::to_string(member.method);
  return {};
}

/// Returns what an array holds whose header is refused with `error`.
std::string why_not_understood(const Error& error, const std::filesystem::path& path) {
  std::string_view text = error.what();
  const std::string before = path.string() + ": ", after = ", which are not supported";
  if (text.starts_with(before)) text.remove_prefix(before.size());
  if (constexpr auto holds = "holds "sv; text.starts_with(holds) && text.ends_with(after)) {
    return std::string(text.substr(holds.size(), text.size() - holds.size() - after.size()));
  }
  return "data that are not understood (" + std::string(text) + ")";
}

StoredArray array_of(const File& file, const ZipReader& archive, const Member& member,
                     const Format& format) {
  StoredArray array{.type = {}, .type_reason = {}, .bytes = member.stored};
  array.why_not = why_not_read(member);
  array.offset = archive.content_of(member);
  if (array.why_not.empty()) {
    if (member.bytes != member.stored) {
      throw not_understood(file.path(),
                           "the member " + in_quotes(member.name) + " has two different sizes");
    }
    Beginning content(file, array.offset, member.bytes);
    const std::uint64_t offset = array.offset;
    try {
      array = npy_format.list(content, format).front();
      array.offset += offset;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      array.why_not = why_not_understood(error, file.path());
    }
  }
  array.name = member.name.substr(0, member.name.size() - npy_ending.size());
  return array;
}

/// Recognises an archive also by the name of its first member.
bool is_npz(Beginning& file, const Format& format) {
  if (format.offset != 0) return false;
  if (ending_of_data(file.path()) == ".npz") return true;
  constexpr std::size_t longest_name = 1024;
  const std::string_view text = file.first_text(local_bytes + longest_name);
  if (text.size() < local_bytes || !text.starts_with(local_magic)) return false;
  return text.substr(local_bytes, number_in(text, 26, 2)).ends_with(npy_ending);
}

std::vector<StoredArray> list_npz(Beginning& file, const Format& format) {
  if (file.file() == nullptr) {
    throw Error(ErrorKind::usage, file.path().string() + ": a .npz file cannot be read as a stream",
                {.why = "its directory is at its end", .hint = "save it to a file"});
  }
  ZipReader archive(*file.file());
  std::vector<StoredArray> arrays;
  for (const Member& member : archive.members()) {
    if (!member.name.ends_with(npy_ending)) continue;
    arrays.push_back(array_of(*file.file(), archive, member, format));
  }
  return arrays;
}

}  // namespace

const FormatParser npz_format{.format = FileFormat::npz,
                              .name = "npz",
                              .title = ".npz",
                              .recognise = is_npz,
                              .list = list_npz};

}  // namespace ooc::detail
