#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ooc {

/// The kind of a failure. `ooc-run` maps each kind to an exit code; programs that link libooc can
/// branch on it.
enum class ErrorKind {
  usage,          ///< the arguments are invalid
  bad_input,      ///< the input is malformed or not supported
  input,          ///< the input could not be read
  input_changed,  ///< the input changed while it was read
  output,         ///< the output could not be written
  memory,         ///< not enough memory for the limits given
  device,         ///< a GPU, or the network between ranks, failed or is not usable
  stalled,        ///< a disk, a server or a rank stopped answering
  verify,         ///< a result failed its verification
  interrupted,    ///< the caller requested a stop
  internal,       ///< a bug in libooc
};

/// Returns the name of the enumerator: "bad_input".
OOC_API std::string_view to_string(ErrorKind kind) noexcept;

/// How a remedy changes a setting.
enum class RemedyAction {
  raise,
  lower,
  set,      ///< to Remedy::value, or to another value if that is empty
  unset,    ///< back to its default
  convert,  ///< no setting: converts the file of the error to the element type Remedy::value
};

/// A change after which an operation may succeed. It is data, so that a program can name the
/// setting as its users know it.
struct Remedy {
  RemedyAction change;         ///< how to change the setting
  std::string_view setting{};  ///< a field of this library, a literal: "Options::memory_bytes"
  std::string value{};         ///< the new value, or the least that is enough; may be empty
  std::string effect{};        ///< what the change does, if its name does not say so: "replaces it"
};

/// Details of a failure besides its message. Every field may be empty.
struct ErrorDetails {
  std::filesystem::path path{};           ///< the file that it is about
  std::optional<std::uint64_t> offset{};  ///< byte offset in `path`
  int errno_value = 0;                    ///< of the system call that failed; 0: none did
  std::string why{};                      ///< the likely cause, in terms the user knows
  std::string hint{};                     ///< what to do about it that is no change of a setting
  std::vector<Remedy> remedies{};         ///< in the order of preference
};

/// The words of a remedy. In advice(), consecutive remedies with the same verb share it.
struct RemedyWords {
  std::string verb;    ///< "raise"
  std::string object;  ///< "Options::memory_bytes"
};

/// Returns the words of a remedy, with the names of this library.
OOC_API RemedyWords words_of(const Remedy& remedy);

/// Returns the hint and the remedies as one sentence, such as "raise Options::memory_bytes, or
/// lower Options::chunk_bytes or Options::streams"; empty if there are none. `words` returns the
/// words of a remedy.
OOC_API std::string advice(const ErrorDetails& details,
                           const std::function<RemedyWords(const Remedy&)>& words = words_of);

/// The exception type of libooc. `what()` is one line that says what failed and where; details() is
/// for display and for error handling.
///
///     try {
///       ooc::reduce(coordinator, source);
///     } catch (const ooc::Error& error) {
///       std::cerr << error.what() << '\n' << ooc::advice(error.details()) << '\n';
///       return error.kind() == ooc::ErrorKind::input ? 3 : 1;
///     }
class OOC_API Error : public std::runtime_error {
 public:
  /// `message`: one line that says what failed and where.
  Error(ErrorKind kind, const std::string& message, ErrorDetails details = {});

  /// Returns an error with the message "PATH: VERB failed at byte OFFSET: Input/output error
  /// (EIO)". Path and offset are left out if empty.
  static Error from_errno(ErrorKind kind, const std::string& verb, int errno_value,
                          const std::filesystem::path& path = {},
                          std::optional<std::uint64_t> offset = {}, std::string hint = {});

  /// Returns the kind of the failure.
  ErrorKind kind() const noexcept { return kind_; }
  /// Returns the details of the failure, a reference that is valid as long as the error.
  const ErrorDetails& details() const noexcept { return details_; }

 private:
  ErrorKind kind_;
  ErrorDetails details_;
};

/// Returns `text` as one shell word, quoted if necessary, so that hints can be copied into a
/// terminal.
OOC_API std::string shell_word(const std::string& text);

/// Returns the description and name of an errno: "Input/output error (EIO)". Thread-safe and
/// independent of the locale.
OOC_API std::string describe_errno(int errno_value);

}  // namespace ooc
