#include <ooc/error.hpp>

#include <cstring>
#include <utility>

namespace ooc {

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::bad_input: return "bad_input";
    case ErrorKind::input: return "input";
    case ErrorKind::input_changed: return "input_changed";
    case ErrorKind::output: return "output";
    case ErrorKind::memory: return "memory";
    case ErrorKind::device: return "device";
    case ErrorKind::stalled: return "stalled";
    case ErrorKind::verify: return "verify";
    case ErrorKind::interrupted: return "interrupted";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, const std::string& message, ErrorDetails details)
    : std::runtime_error(message), kind_(kind), details_(std::move(details)) {}

Error Error::from_errno(ErrorKind kind, const std::string& verb, int errno_value,
                        const std::filesystem::path& path, std::optional<std::uint64_t> offset,
                        std::string hint) {
  std::string message = path.empty() ? std::string{} : path.string() + ": ";
  message += verb + " failed";
  if (offset) message += " at byte " + std::to_string(*offset);
  message += ": " + describe_errno(errno_value);
  return Error(kind, message,
               {.path = path,
                .offset = offset,
                .errno_value = errno_value,
                .why = {},
                .hint = std::move(hint)});
}

RemedyWords words_of(const Remedy& remedy) {
  const std::string setting(remedy.setting);
  switch (remedy.change) {
    case RemedyAction::raise:
      return {"raise", remedy.value.empty() ? setting : setting + " to at least " + remedy.value};
    case RemedyAction::lower: return {"lower", setting};
    case RemedyAction::unset: return {"unset", setting};
    case RemedyAction::convert: return {"convert", "it to " + remedy.value};
    case RemedyAction::set: break;
  }
  return {"set", remedy.value.empty() ? setting : setting + " to " + remedy.value};
}

std::string advice(const ErrorDetails& details,
                   const std::function<RemedyWords(const Remedy&)>& words) {
  std::vector<RemedyWords> all;
  for (const Remedy& remedy : details.remedies) all.push_back(words(remedy));
  const auto have_one_verb = [&](std::size_t k) {  // words k - 1 and k
    return k > 0 && k < all.size() && all[k - 1].verb == all[k].verb;
  };
  std::string sentence = details.hint;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!have_one_verb(k)) {
      sentence += (sentence.empty() ? "" : ", or ") + all[k].verb + " ";
    } else {
      sentence += have_one_verb(k + 1) ? ", " : " or ";
    }
    sentence += all[k].object;
    const std::string& effect = details.remedies[k].effect;
    if (!effect.empty()) sentence += " (" + effect + ")";
  }
  return sentence;
}

std::string shell_word(const std::string& text) {
  constexpr const char* plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      quoted += "'\\''";
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

std::string describe_errno(int errno_value) {
  // Unlike strerror(), these functions are thread-safe and independent of the locale.
  const char* text = strerrordesc_np(errno_value);
  const char* name = strerrorname_np(errno_value);
  if (text == nullptr || name == nullptr) return "error " + std::to_string(errno_value);
  return std::string{text} + " (" + name + ")";
}

}  // namespace ooc
