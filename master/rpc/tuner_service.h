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
#include "master/rpc/tuned_studies.h"

namespace espalier::master {

class TunerService final : public GuardedService {
 public:
  TunerService(MasterPort& master, PendingCalls& calls, StudyWatch& watch, TunedStudies& tuned, const Callers& callers);

 private:
  // O(running studies with a built-in tuner).
  Result<void> FindStudy(const Caller& caller, const v1::FindStudyRequest& request, v1::FindStudyResponse& response);
  Result<void> Submit(const Caller& caller, const v1::SubmitRequest& request, v1::SubmitResponse& response);
  // Errors: kResourceExhausted over kWatchesPerTunerHostMax; kNotFound when there is no such study with a built-in
  // tuner; then those of the stream.
  Result<std::unique_ptr<StreamServer>> Watch(StreamCall& call, const Caller& caller);

  MasterPort& master_;
  PendingCalls& calls_;
  StudyWatch& watch_;
  TunedStudies& tuned_;
  StreamPlaces watches_{"watches", kWatchesPerTunerHostMax};
};

}  // namespace espalier::master
