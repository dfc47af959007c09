#include "master/rpc/checkpoint_service.h"

#include <algorithm>

#include "espalier/v1/checkpoint.grpc.pb.h"
#include "master/core/views/list_checkpoints.h"
#include "master/core/views/orphans.h"
#include "master/rpc/convert.h"
#include "master/rpc/reading.h"

namespace espalier::master {
namespace {

constexpr std::size_t kFilesATurn = 1000;

}  // namespace

CheckpointService::CheckpointService(MasterPort& master, PastStudies& pasts, const Callers& callers)
    : GuardedService(v1::CheckpointService::service_full_name(), callers), master_(master), pasts_(pasts) {
  Serve("ListCheckpoints", &Callers::Member, &CheckpointService::ListCheckpoints);
  Serve("FindOrphans", &Callers::Administrator, &CheckpointService::FindOrphans);
}

Result<void> CheckpointService::ListCheckpoints(const Caller& caller, const v1::ListCheckpointsRequest& request,
                                                v1::ListCheckpointsResponse& response) {
  const auto add = [&](const ListedCheckpoint& listed) { *response.add_checkpoints() = ToProto(listed); };
  if (request.has_trial_id()) {
    return pasts_.LookAtTrial(TrialId{request.trial_id()}, caller, [&](const MasterState& state) -> Result<void> {
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
  ESPALIER_ASSIGN(const PastStudy part, pasts_.Copy(id));
  ESPALIER_ASSIGN(const CheckpointPage page,
                  master::ListCheckpoints(*part, id, PageSize(request.page_size()), request.page_token()));
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
