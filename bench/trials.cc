#include "bench/trials.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "bench/service.h"
#include "client/connection.h"
#include "client/convert.h"

namespace espalier::bench {
namespace {

// Below 1, and different for each number below 10^9.
std::string UniqueValue(std::int64_t number) {
  std::string digits = std::to_string(1'000'000'000 + number);
  return "0.0" + digits;
}

}  // namespace

tuners::StartTrial TrialOf(Shape shape, std::int64_t number) {
  const std::string value = UniqueValue(number);
  tuners::StartTrial trial{.steps = kTrialSteps, .horizon = kTrialSteps};
  switch (shape) {
    case Shape::kOneNode:
      trial.sequences = {{"lr", "Piecewise([0.5, " + value + "], [" + std::to_string(kShared.value) + "])"},
                         {"momentum", "0.8"}};
      break;
    case Shape::kFourNodes:
      trial.sequences = {{"lr", "MultiStep(" + value + ", [20, 60], gamma=0.1)"},
                         {"bs", "MultiStep(32, [40], gamma=2)"}};
      break;
  }
  return trial;
}

Batch BatchFrom(Shape shape, std::int64_t first, std::int64_t end) {
  Batch batch;
  for (std::int64_t i = first; i < std::min(first + kBatchSize, end); ++i) {
    batch.new_trials.push_back(TrialOf(shape, i));
  }
  return batch;
}

std::string BatchName(Shape shape, std::int64_t first) {
  return "batch-" + std::to_string(static_cast<int>(shape)) + "-" + std::to_string(first);
}

Seconds SubmitOne(Client& client, StudyId study, Shape shape, std::int64_t number, const std::vector<TrialId>& close) {
  v1::SubmitRequest request;
  request.set_study_id(study.value);
  request.set_request_id("one-" + std::to_string(number));
  *request.add_new_trials() = ToWire(TrialOf(shape, number));
  for (const TrialId trial : close) request.add_close_trial_ids(trial.value);
  const Seconds begun = MonotonicNow();
  Need(client.connection().Submit(request));
  return MonotonicNow() - begun;
}

Seconds Submit(Client& client, StudyId study, Shape shape, std::int64_t first, std::int64_t count, int calls) {
  const Seconds begun = MonotonicNow();
  std::atomic<std::int64_t> next = first;
  const auto submit = [&] {
    while (true) {
      const std::int64_t from = next.fetch_add(kBatchSize);
      if (from >= first + count) return;
      v1::SubmitRequest request;
      request.set_study_id(study.value);
      request.set_request_id(BatchName(shape, from));
      for (const tuners::StartTrial& trial : BatchFrom(shape, from, first + count).new_trials) {
        *request.add_new_trials() = ToWire(trial);
      }
      Need(client.connection().Submit(request));
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < calls; ++i) threads.emplace_back(submit);
  threads.clear();
  return MonotonicNow() - begun;
}

}  // namespace espalier::bench
