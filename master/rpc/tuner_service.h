// TunerService: finds studies that nobody carries on, and lets tuner hosts act for their users. Administrators and
// tuner hosts may call.
#pragma once

#include "espalier/v1/tuner.pb.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/limits.h"
#include "master/rpc/master_port.h"
#include "master/rpc/pending_calls.h"
#include "master/rpc/stream_places.h"
#include "master/rpc/study_watch.h"

namespace espalier::master {

class TunerService final : public GuardedService {
 public:
  TunerService(MasterPort& master, PendingCalls& calls, StudyWatch& watch, const Callers& callers);

 private:
  // O(running studies with a built-in tuner).
  Result<void> FindStudy(const Caller& caller, const v1::FindStudyRequest& request, v1::FindStudyResponse& response);
  Result<void> Submit(const Caller& caller, const v1::SubmitRequest& request, v1::SubmitResponse& response);
  Result<void> Watch(const grpc::ServerContext& context, const Caller& caller, const v1::WatchRequest& request,
                     grpc::internal::WriterInterface<v1::WatchResponse>& writer);

  // Whose study it is. Error: kNotFound when there is none with a built-in tuner.
  Result<Caller> UserOf(StudyId study);

  MasterPort& master_;
  PendingCalls& calls_;
  StudyWatch& watch_;
  const Callers& callers_;
  StreamPlaces watches_{"watches", kWatchesPerTunerHostMax};
};

}  // namespace espalier::master
