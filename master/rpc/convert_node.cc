#include "master/core/state/stored_text.h"
#include "master/rpc/convert.h"

namespace espalier::master {
namespace {

std::string At(const char* field, int index) { return std::string(field) + "[" + std::to_string(index) + "]"; }

}  // namespace

Result<NodeMessage> FromProto(const v1::SynchronizeRequest& message, SessionId session) {
  NodeMessage result{.session = session};
  if (message.has_registration()) {
    Result<Registration> registration = FromProto(message.registration());
    if (!registration.has_value()) return InField("registration", registration.error());
    // The core would end the stream without a reason that the node manager sees.
    if (auto fits = CheckRegistration(*registration); !fits.has_value()) return InField("registration", fits.error());
    result.registration = std::move(*registration);
    if (message.has_sent_at()) result.sent_at = FromProto(message.sent_at());
  }
  for (int i = 0; i < message.runs_size(); ++i) {
    Result<RunStatus> status = FromProto(message.runs(i));
    if (!status.has_value()) return InField(At("runs", i), status.error());
    result.runs.push_back(*status);
  }
  for (int i = 0; i < message.reports_size(); ++i) {
    Result<Report> report = FromProto(message.reports(i));
    if (!report.has_value()) return InField(At("reports", i), report.error());
    result.reports.push_back(std::move(*report));
  }
  result.acknowledged_report = message.acknowledged_report();
  return result;
}

v1::SynchronizeResponse ToProto(const SendOrders& send) { return ToProto(send.orders); }

}  // namespace espalier::master
