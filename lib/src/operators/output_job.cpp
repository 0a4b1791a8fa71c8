#include <ooc/detail/operators/output_job.hpp>

namespace ooc::detail {

Error with_kept_files(const Error& error, const Checkpoint& checkpoint, const OutputFiles& files) {
  ErrorDetails details = error.details();
  std::string kept = checkpoint.file.string();
  for (const std::string& name : files.kept_names()) kept += " and " + name;
  details.why += (details.why.empty() ? "" : "; ") + kept + " have what was made";
  return {error.kind(), error.what(), details};
}

}  // namespace ooc::detail
