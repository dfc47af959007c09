// Batches that are fetched before they are asked for, while a training computes on the one before: never another batch,
// place or error than without. A training's place in the data is that of what it has used; what was fetched beyond is
// dropped where the batch size, a hyper-parameter of the data or the place changes, and where the training ends.
#pragma once

#include <cstddef>

#include "worker/trainer/data/data_source.h"

namespace espalier::trainer {

// To wake the thread for each batch takes an eighth of the shortest updates (0.15 ms, of `mlp` on digits); for each
// fourth, a thirtieth.
inline constexpr std::size_t kUsualPrefetch = 4;

// The same source, whose batches are fetched up to `depth` ahead, by a thread for each Batches that it opens, which
// begins with the first batch and ends with them; where the system has no thread, none ahead. 0: it stays as it is.
DataSource Prefetched(DataSource source, std::size_t depth);

}  // namespace espalier::trainer
