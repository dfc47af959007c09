#include "master/core/views/orphans.h"

#include <algorithm>

#include "protocol/store_name.h"

namespace espalier::master {
namespace {

// Of this service, and nothing more comes of it.
bool HasEnded(const MasterState& state, RunKey key) {
  const auto run = state.runs.find(key.run);
  return run != state.runs.end() && run->second.leadership == key.leadership && run->second.ended();
}

bool IsNamed(const MasterState& state, const StoredPoint& stored, const std::string& file) {
  const auto plan = state.plans.find(stored.plan);
  if (plan == state.plans.end() || !plan->second.nodes.contains(stored.point.node)) return false;
  const Checkpoint* stands = plan->second.FindCheckpoint(stored.point);
  return stands != nullptr && stands->file == file;
}

}  // namespace

std::vector<std::string> OrphansAmong(const MasterState& state, const std::vector<std::string>& files) {
  std::set<std::string> starts;
  for (const RunId run : state.active_runs) starts.insert(state.runs.at(run).start_file);
  std::vector<std::string> orphans;
  std::ranges::copy_if(files, std::back_inserter(orphans), [&](const std::string& file) {
    const std::optional<StoredPoint> stored = ParseStoreName(file);
    return stored.has_value() && HasEnded(state, stored->run) && !IsNamed(state, *stored, file) &&
           !starts.contains(file);
  });
  return orphans;
}

}  // namespace espalier::master
