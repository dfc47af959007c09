#include "master/core/state/device_time.h"

#include <algorithm>

namespace espalier::master {

namespace {

// The whole charges of a run that was charged to several studies, to each.
void CountShared(MasterState& state, const Run& run, std::int64_t sign) {
  const auto is_charged = [](const auto& each) { return each.second > 0; };
  if (std::ranges::count_if(run.charges, is_charged) < 2) return;
  for (const auto& [study, microseconds] : run.charges) {
    if ((state.shared_time[study] += sign * microseconds) == 0) state.shared_time.erase(study);
  }
}

}  // namespace

void AddCharges(MasterState& state, Run& run, const std::map<StudyId, std::int64_t>& microseconds) {
  CountShared(state, run, -1);
  for (const auto& [study, part] : microseconds) {
    run.charges[study] += part;
    if (part > 0) state.device_time[study] += part;
  }
  CountShared(state, run, 1);
}

Seconds SharedTime(const MasterState& state, StudyId study) {
  const auto shared = state.shared_time.find(study);
  return std::chrono::microseconds(shared == state.shared_time.end() ? 0 : shared->second);
}

Seconds UnchargedPart(const Run& run, Time now) {
  return run.slots * Seconds(now - run.charged_to) / static_cast<double>(run.serves.size());
}

Seconds DeviceTime(const MasterState& state, StudyId study, Time now) {
  const auto charged = state.device_time.find(study);
  Seconds sum = std::chrono::microseconds(charged == state.device_time.end() ? 0 : charged->second);
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training() || !std::binary_search(run.serves.begin(), run.serves.end(), study)) continue;
    sum += UnchargedPart(run, now);
  }
  return sum;
}

}  // namespace espalier::master
