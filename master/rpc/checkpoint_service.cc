#include "master/rpc/checkpoint_service.h"

#include <algorithm>

#include "espalier/v1/checkpoint.grpc.pb.h"
#include "master/core/views/list_checkpoints.h"
#include "master/core/views/orphans.h"
#include "master/core/views/study_part.h"
#include "master/rpc/convert.h"
#include "master/rpc/reading.h"

namespace espalier::master {
namespace {

constexpr std::size_t kFilesATurn = 1000;

}  // namespace

CheckpointService::CheckpointService(MasterPort& master, const Callers& callers)
    : GuardedService(v1::CheckpointService::service_full_name(), callers), master_(master) {
  Serve("ListCheckpoints", &Callers::Member, &CheckpointService::ListCheckpoints);
  Serve("FindOrphans", &Callers::Administrator, &CheckpointService::FindOrphans);
}

Result<void> CheckpointService::ListCheckpoints(const Caller& caller, const v1::ListCheckpointsRequest& request,
                                                v1::ListCheckpointsResponse& response) {
  const auto add = [&](const ListedCheckpoint& listed) { *response.add_checkpoints() = ToProto(listed); };
  if (request.has_trial_id()) {
    return LookAtState(master_, [&](const MasterState& state) -> Result<void> {
      ESPALIER_ASSIGN(const Trial* trial, FindTrial(state, TrialId{request.trial_id()}, caller));
      std::ranges::for_each(CheckpointsOf(state, trial->id), add);
      return {};
    });
  }
  const StudyId id{request.study_id()};
  ESPALIER_RETURN_IF_ERROR(LookAtState(master_, [&](const MasterState& state) -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(FindStudy(state, id, caller));
    return {};
  }));
  const StateReader read = [this](const auto& look) { return master_.Read(look); };
  ESPALIER_ASSIGN(const MasterState part, CopyStudy(read, id));
  ESPALIER_ASSIGN(const CheckpointPage page,
                  master::ListCheckpoints(part, id, PageSize(request.page_size()), request.page_token()));
  std::ranges::for_each(page.checkpoints, add);
  response.set_next_page_token(page.next_token);
  return {};
}

Result<void> CheckpointService::FindOrphans(const Caller&, const v1::FindOrphansRequest& request,
                                            v1::FindOrphansResponse& response) {
  for (auto file = request.files().begin(); file != request.files().end();) {
    std::vector<std::string> some;
    for (; some.size() < kFilesATurn && file != request.files().end(); ++file) some.push_back(*file);
    ESPALIER_RETURN_IF_ERROR(LookAtState(master_, [&](const MasterState& state) -> Result<void> {
      for (const std::string& orphan : OrphansAmong(state, some)) response.add_orphans(orphan);
      return {};
    }));
  }
  return {};
}

}  // namespace espalier::master
