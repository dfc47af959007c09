#include "proto/channel.h"

#include <grpcpp/grpcpp.h>

#include "base/version.h"
#include "proto/encryption.h"

namespace espalier {
namespace {

// Of a master that says nothing: asked after the first, given up after the second. Together shorter than a node
// manager's lease, so that it finds the new master before its runs are taken for lost.
constexpr int kKeepaliveMilliseconds = 2'000;
constexpr int kKeepaliveTimeoutMilliseconds = 3'000;
// From one attempt to connect to the next, growing with each; an attempt is given up when the next is due.
constexpr int kAttemptFirstMilliseconds = 200;
constexpr int kAttemptMaxMilliseconds = 1'000;

}  // namespace

Result<std::shared_ptr<grpc::Channel>> OpenChannel(const std::string& address, const Encryption& encryption) {
  ESPALIER_ASSIGN(const auto credentials, CallerCredentials(address, encryption));
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix(std::string(UserAgent()));
  arguments.SetMaxReceiveMessageSize(-1);  // listings of large studies, states of many runs
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMilliseconds);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // as many as it takes
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kAttemptFirstMilliseconds);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kAttemptFirstMilliseconds);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kAttemptMaxMilliseconds);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!encryption.server_name.empty()) arguments.SetSslTargetNameOverride(encryption.server_name);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

}  // namespace espalier
