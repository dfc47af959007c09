// Whether a batch is small enough to be entered at once. Looked at on the thread of the call: no event holds the loop
// for longer than a batch of the largest size.
#pragma once

#include "base/result.h"
#include "master/core/event.h"

namespace espalier::master {

// Error: kResourceExhausted ("trials") when several new trials have more than kBatchSegmentsMax joint segments. O(text
// of the trials + segments counted), and counts on no further than the limit.
Result<void> CheckBatchSize(const SubmitBatch& batch);

}  // namespace espalier::master
