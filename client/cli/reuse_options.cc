#include "client/cli/reuse_options.h"

#include "client/cli/server_access.h"

namespace espalier {

void AddReuseOptions(Command& command, ReuseOptions& options) {
  command.options.push_back({.name = "--reuse-from",
                             .target = &options.from,
                             .help =
                                 "begin each trial with the deepest state that this study, of other code, left on its "
                                 "path: old code up to there, new code from there on",
                             .placeholder = "STUDY"});
  command.options.push_back({.name = "--reuse-until",
                             .target = &options.until,
                             .help = "with no state behind this step: what the new code changes comes later",
                             .placeholder = "STEP",
                             .at_least = 1});
}

Result<void> TakeReuse(Connection& connection, const ReuseOptions& options, StudyFile& file) {
  if (options.from.empty() && options.until == 0) return {};
  std::optional<Reuse> reuse = file.specification.reuse;
  if (!options.from.empty()) {
    ESPALIER_ASSIGN(const v1::StudySummary study, FindStudy(connection, options.from));
    reuse = Reuse{.study = StudyId{study.study_id()}};
  }
  if (!reuse) {
    return MakeError(ErrorCode::kInvalidArgument, "expected --reuse-from, too: it says from which study",
                     "--reuse-until");
  }
  if (options.until > 0) reuse->until = Step{options.until};
  SetReuse(file, *reuse);
  return {};
}

}  // namespace espalier
