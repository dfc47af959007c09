#include "master/core/state/device_time.h"

#include <algorithm>

namespace espalier::master {

Seconds DeviceTime(const MasterState& state, StudyId study, Time now) {
  const auto charged = state.device_time.find(study);
  Seconds sum = std::chrono::microseconds(charged == state.device_time.end() ? 0 : charged->second);
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training() || !std::binary_search(run.serves.begin(), run.serves.end(), study)) continue;
    sum += run.slots * Seconds(now - run.charged_to) / static_cast<double>(run.serves.size());
  }
  return sum;
}

}  // namespace espalier::master
