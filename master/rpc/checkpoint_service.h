// espalier.v1.CheckpointService: what the store holds, as the master knows it. Thread-safe.
#pragma once

#include "espalier/v1/checkpoint.pb.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/master_port.h"
#include "master/rpc/past_studies.h"

namespace espalier::master {

class CheckpointService final : public GuardedService {
 public:
  CheckpointService(MasterPort& master, PastStudies& pasts, const Callers& callers);

 private:
  // As views/list_checkpoints.h says; of a study, in turns, as study_part.h says.
  Result<void> ListCheckpoints(const Caller& caller, const v1::ListCheckpointsRequest& request,
                               v1::ListCheckpointsResponse& response);
  // In turns, each O(a thousand files + runs under way).
  Result<void> FindOrphans(const Caller& caller, const v1::FindOrphansRequest& request,
                           v1::FindOrphansResponse& response);

  MasterPort& master_;
  PastStudies& pasts_;
};

}  // namespace espalier::master
