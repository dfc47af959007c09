// Streams a study's events to one who watches.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/sync_stream.h>

#include <functional>

#include "espalier/v1/study.pb.h"
#include "master/rpc/master_port.h"
#include "master/rpc/study_watch.h"

namespace espalier::master {

// Events from the one asked for on, those that are stored and later ones, until the study is finished or nobody listens
// any more. `admit`: as whom the caller may see the study; asked again and again, for his token may be revoked
// meanwhile. Errors: of `admit`; kNotFound; kInvalidArgument when there can be no such event; kFailedPrecondition when
// there is none yet; kUnavailable when the master stops. Cost: a copy of the events sent; on the event loop at most
// 1,000 at a time, new ones not there.
Result<void> StreamEvents(MasterPort& master, StudyWatch& watch, const grpc::ServerContext& context,
                          const v1::WatchRequest& request, const std::function<Result<Caller>()>& admit,
                          grpc::internal::WriterInterface<v1::WatchResponse>& writer);

}  // namespace espalier::master
