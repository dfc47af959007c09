// Batches as large as a master takes: larger ones are cut. Where is a function of the batch alone, so that whoever
// repeats it cuts it in the same places.
#pragma once

#include <vector>

#include "base/result.h"
#include "client/tuners/batch.h"

namespace espalier {

// What to submit one after the other in place of the batch; the batch itself, if it is small enough. Lists keep their
// order, over all parts: new trials, then claims, closings, cancellations; the last part finishes the study if the
// batch does. A part has at most 5,000 joint segments, further claims, closings and cancellations, and 8 MiB of text,
// unless it is one trial. O(text of the trials + their segments).
std::vector<Batch> CutBatch(const Batch& batch);

// A part's error as one of the batch's: places in lists ("trials[3].lr") count from the batch's beginning.
// `before`: the parts that precede it.
Error InWholeBatch(Error error, const std::vector<Batch>& parts, std::size_t before);

}  // namespace espalier
