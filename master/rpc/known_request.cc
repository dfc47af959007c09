#include "master/rpc/known_request.h"

#include <string>

#include "base/version.h"
#include "proto/unknown_parts.h"

namespace espalier::master {
namespace {

// "espalier/0.1.0"; empty if the caller does not say.
std::string CallerOf(const grpc::ServerContext& context) {
  const auto agent = context.client_metadata().find("user-agent");
  if (agent == context.client_metadata().end()) return {};
  const std::string_view said(agent->second.data(), agent->second.size());
  return std::string(said.substr(0, said.find(' ')));
}

}  // namespace

Result<void> CheckKnown(const grpc::ServerContext& context, const google::protobuf::Message& request) {
  const std::optional<UnknownPart> unknown = FindUnknown(request);
  if (!unknown) return {};
  const std::string caller = CallerOf(context);
  return MakeError(ErrorCode::kWrongVersion,
                   "the server, " + std::string(UserAgent()) + ", does not know " + unknown->text +
                       ", which this program" + (caller.empty() ? "" : ", " + caller + ",") +
                       " sends: the program is newer; use one that came with the server, or update the server",
                   unknown->field);
}

}  // namespace espalier::master
