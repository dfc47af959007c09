// Submits a batch, in as many requests as it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/study_port.h"
#include "client/tuners/batch.h"

namespace espalier {

struct BatchIds {
  std::vector<TrialId> trials;  // parallel to new_trials
  std::vector<ClaimId> claims;  // of the new trials' claims, each trial's in order, then of `claims`
};

// The same request id with the same content gets the first answer again. A batch that is cut takes the request ids
// ID/0, ID/1, ...: after an interruption, repeat it whole. `number`: which of a tuner's batches it is. Errors: the
// master's, where places in lists ("trials[3].lr") are those of the whole batch.
Result<BatchIds> Submit(StudyPort& port, StudyId study, const Batch& batch, const std::string& request_id,
                        std::optional<std::int64_t> number = std::nullopt);

}  // namespace espalier
