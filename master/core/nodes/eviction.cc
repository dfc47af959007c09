#include "master/core/nodes/eviction.h"

#include <algorithm>

#include "master/core/origin.h"
#include "master/core/state/cache_keeper.h"

namespace espalier::master {
namespace {

constexpr int kDroppedAnEvent = 8;
constexpr int kLooksAnEvent = 32;  // at values that may have become another

const Server* SomeConnected(const MasterState& state) {
  const auto is_connected = [](const auto& entry) { return entry.second.session.has_value(); };
  const auto found = std::ranges::find_if(state.servers, is_connected);
  return found == state.servers.end() ? nullptr : &found->second;
}

bool IsOver(const Draft& draft) {
  const std::int64_t budget = draft.settings.checkpoint_bytes;
  return budget > 0 && draft.state().index.cache.bytes() > budget;
}

void Warn(Draft& draft) {
  if (draft.found_no_room) {
    draft.Log(LogLevel::kWarning,
              "the checkpoint store is full, and all checkpoints are needed: states wait in staging",
              {{"bytes", draft.state().index.cache.bytes()}});
    return;
  }
  if (!draft.stored_states) return;
  draft.Log(LogLevel::kWarning, "checkpoints take more than their budget, and all are needed",
            {{"bytes", draft.state().index.cache.bytes()}, {"budget", draft.settings.checkpoint_bytes}});
}

void Drop(Draft& draft, const CheckpointCache::Candidate& candidate, const std::string& server) {
  const Checkpoint stands = *draft.state().plans.at(candidate.plan).FindCheckpoint(candidate.point);
  draft.Log(LogLevel::kInfo, "checkpoint evicted",
            {{"node", candidate.point.node}, {"step", candidate.point.step}, {"bytes", stands.bytes}});
  DropFile(draft, candidate.plan, candidate.point, stands.file);
  draft.superseded_files.insert(stands.file);
  draft.touched.servers.insert(server);
}

// Drops the first few of the cache while `is_room_wanted`. False: all that is left in it is needed.
template <class IsRoomWanted>
bool DropFirst(Draft& draft, const CheckpointCache& cache, const std::string& server,
               const IsRoomWanted& is_room_wanted) {
  int dropped = 0;
  for (int looks = 0; looks < kLooksAnEvent && dropped < kDroppedAnEvent && is_room_wanted(); ++looks) {
    const auto first = cache.First(draft.now);
    if (!first) return false;
    // What came before it may have gone since it was listed, or come: then it may not be the first.
    if (first->value != ValueNow(draft.state(), first->plan, first->point)) {
      draft.ValueCheckpoint(first->plan, first->point);
      continue;
    }
    Drop(draft, *first, server);
    ++dropped;
  }
  return true;
}

// Of teams and users that have a limit. O(these), where nothing goes.
void KeepWithinQuotas(Draft& draft, const std::string& server) {
  for (const auto& limited : draft.state().index.limited_caches) {
    const CheckpointCache& cache = limited.second;
    const std::int64_t most = *draft.state().quotas.at(limited.first).stored_bytes;
    DropFirst(draft, cache, server, [&] { return cache.bytes() > most; });
  }
}

}  // namespace

void KeepWithinBudget(Draft& draft) {
  const Server* const server = SomeConnected(draft.state());
  if (server == nullptr) return;
  KeepWithinQuotas(draft, server->name);
  const auto is_room_wanted = [&] { return draft.state().room_wanted.to_make() > 0 || IsOver(draft); };
  if (!DropFirst(draft, draft.state().index.cache, server->name, is_room_wanted)) Warn(draft);
}

}  // namespace espalier::master
