// The trials that benches submit: two tuned hyper-parameters, every trial's values its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "client/client.h"

namespace espalier::bench {

inline constexpr std::int64_t kBatchSize = 1000;

// How a trial enters the plan.
enum class Shape {
  kOneNode,    // parts from a shared beginning at kShared: one new plan node
  kFourNodes,  // shares nothing, and changes a value at three steps: four new plan nodes
};

// The claim is at this step.
inline constexpr Step kTrialSteps{80};
// Where trials of one node part from their shared beginning.
inline constexpr Step kShared{10};

tuners::StartTrial TrialOf(Shape shape, std::int64_t number);

// The batch that Submit sends for trials `first` on, of `end` in all, and the request id that it has.
Batch BatchFrom(Shape shape, std::int64_t first, std::int64_t end);
std::string BatchName(Shape shape, std::int64_t first);

// One trial in a call of its own; how long the call took.
Seconds SubmitOne(Client& client, StudyId study, Shape shape, std::int64_t number,
                  const std::vector<TrialId>& close = {});

// Trials `first` to `first + count`, each batch in one call, so many calls at a time; how long it took. Every trial
// starts with a claim that waits.
Seconds Submit(Client& client, StudyId study, Shape shape, std::int64_t first, std::int64_t count, int calls = 2);

}  // namespace espalier::bench
