// Between protocol/*.h and the messages of espalier/v1/node_manager.proto, both ways: the same for master and node
// managers. Texts that are not UTF-8 are cleaned on the way out, and messages for people cut to 16 KiB: what cannot be
// parsed would be refused, and refused again whenever it is repeated. Times that are no times (NaN, negative) come in
// as 0. Thread-safe: plain functions.
#pragma once

#include "base/result.h"
#include "espalier/v1/node_manager.pb.h"
#include "protocol/offer.h"
#include "protocol/order.h"
#include "protocol/report.h"
#include "protocol/run_output.h"
#include "protocol/server_log.h"

namespace espalier {

v1::TrainerDescription ToProto(const Offer& offer);
v1::Device ToProto(const Device& device);
v1::Registration ToProto(const Registration& registration);
v1::RunStatus ToProto(const RunStatus& status);
v1::Report ToProto(const Report& report);
v1::SynchronizeResponse ToProto(const ServerOrders& orders);
v1::PutOutputRequest ToProto(const RunOutput& output);
v1::PutServerLogRequest ToProto(const ServerLogPart& part);

// Error of each: kInvalidArgument with the field, as a path within the message.
Result<Offer> FromProto(const v1::TrainerDescription& message);
Result<Registration> FromProto(const v1::Registration& message);
Result<RunStatus> FromProto(const v1::RunStatus& message);
Result<Report> FromProto(const v1::Report& message);
Result<ServerOrders> FromProto(const v1::SynchronizeResponse& message);
Result<RunOutput> FromProto(const v1::PutOutputRequest& message);
Result<ServerLogPart> FromProto(const v1::PutServerLogRequest& message);

}  // namespace espalier
