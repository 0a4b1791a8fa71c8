#include <ooc/check.hpp>

#include <string>

namespace ooc::detail {

Error breaks_rule(std::string_view rule, std::string_view found, std::string_view hint) {
  return {ErrorKind::verify,
          "the operator breaks a rule: " + std::string(rule),
          {.why = std::string(found), .hint = std::string(hint)}};
}

Error too_few_partitions(std::size_t partition) {
  return {ErrorKind::usage,
          partition == 0 ? "check() needs a source of 3 records at least"
                         : "check() needs three partitions of the operator: " +
                               std::to_string(3 * partition) + " records",
          {.why = "it divides the data in three"}};
}

}  // namespace ooc::detail
