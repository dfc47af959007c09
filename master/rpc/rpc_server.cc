#include "master/rpc/rpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <mutex>

#include "base/log.h"
#include "master/rpc/checkpoint_service.h"
#include "master/rpc/convert.h"
#include "master/rpc/inspect_service.h"
#include "master/rpc/limits.h"
#include "master/rpc/node_manager_service.h"
#include "master/rpc/past_studies.h"
#include "master/rpc/pending_calls.h"
#include "master/rpc/server_service.h"
#include "master/rpc/study_service.h"
#include "master/rpc/tuner_service.h"
#include "master/rpc/user_service.h"

namespace espalier::master {
namespace {

constexpr std::chrono::seconds kStopTime{2};
constexpr int kPingPauseMilliseconds = 1'000;
// Callers that say nothing are asked whether they are there, and given up when they do not answer: their streams end.
constexpr int kCallerSilentMilliseconds = 20'000;

}  // namespace

struct RpcServer::Parts {
  Parts(MasterPort& master, const SideStores& stores, MasterFacts facts)
      : pasts(master, stores.histories),
        calls([this](ClientCall& call) { return pasts.Recall(call); }),
        watch(master, pasts, [this](std::function<void()> function) { pump.Hand(std::move(function)); }),
        study_service(master, calls, watch, tuned, callers),
        inspect_service(master, pasts, stores, std::move(facts), callers),
        checkpoint_service(master, pasts, callers),
        node_service(master, sessions, stores, callers),
        user_service(master, calls, callers),
        server_service(master, calls, stores.server_logs, callers),
        tuner_service(master, calls, watch, tuned, callers) {}

  StreamPump pump;
  PastStudies pasts;
  PendingCalls calls;
  StudyWatch watch;
  TunedStudies tuned;
  NodeSessions sessions;
  Callers callers;
  StudyService study_service;
  InspectService inspect_service;
  CheckpointService checkpoint_service;
  NodeManagerService node_service;
  UserService user_service;
  ServerService server_service;
  TunerService tuner_service;
  std::mutex stopping;
  std::unique_ptr<grpc::Server> server;

  void operator()(Reply& reply) { calls.Resolve(std::move(reply)); }
  void operator()(SendOrders& send) { sessions.Send(send.session, ToProto(send)); }
  void operator()(EndSession& end) {
    Log(LogLevel::kWarning, "stream to a node manager ended", {{"why", end.why}});
    sessions.End(end.session);
  }
  void operator()(RefuseServer& refuse) {
    Log(LogLevel::kWarning, "a node manager is refused", {{"why", refuse.why}});
    sessions.Send(refuse.session, ToProto(ServerOrders{.refused = refuse.why}));
  }
  void operator()(EventsAdded& added) { watch.Announce(std::move(added)); }
  void operator()(AdmitUsers& admit) { callers.Admit(admit.users); }
  void operator()(LogLine& line) { Log(line); }
  void operator()(AnalyseCurve&) {}  // another's (master/loop/analyst.h)
};

RpcServer::RpcServer(MasterPort& master, const SideStores& stores, MasterFacts facts)
    : parts_(std::make_unique<Parts>(master, stores, std::move(facts))) {}

RpcServer::~RpcServer() { Stop(); }

Result<void> RpcServer::Start(const std::string& address, const ListenerEncryption& encryption, bool reflects) {
  grpc::EnableDefaultHealthCheckService(true);  // it takes no thread of a caller's
  if (reflects) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  ESPALIER_ASSIGN(const auto credentials, ListenerCredentials(address, encryption));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, credentials, &port);
  builder.SetResourceQuota(grpc::ResourceQuota("front door").Resize(kBufferBytesMax).SetMaxThreads(kThreadsMax));
  builder.SetMaxReceiveMessageSize(kGrpcMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsPerConnectionMax);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Callers ask often whether this process is frozen (proto/channel.cc); that is no abuse.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingPauseMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kCallerSilentMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kCallerSilentMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.RegisterService(&parts_->study_service);
  builder.RegisterService(&parts_->inspect_service);
  builder.RegisterService(&parts_->checkpoint_service);
  builder.RegisterService(&parts_->node_service);
  builder.RegisterService(&parts_->user_service);
  builder.RegisterService(&parts_->server_service);
  builder.RegisterService(&parts_->tuner_service);
  // Polled by a thread of its own, and not the one that unary calls wait for.
  parts_->pump.Start(builder.AddCompletionQueue(/*is_frequently_polled=*/false),
                     [parts = parts_.get()] { return parts->watch.Work(); });
  parts_->server = builder.BuildAndStart();
  if (parts_->server == nullptr) return MakeError(ErrorCode::kUnavailable, "cannot listen on " + address);
  parts_->study_service.StartStreams(parts_->pump);
  parts_->tuner_service.StartStreams(parts_->pump);
  Log(LogLevel::kInfo, "listening", {{"address", address}});
  return {};
}

void RpcServer::Carry(Effect effect) { std::visit(*parts_, effect); }

void RpcServer::Stop() {
  const std::lock_guard lock(parts_->stopping);
  if (parts_->server == nullptr) return parts_->pump.Stop();
  parts_->calls.Close();
  parts_->watch.Stop();
  parts_->sessions.Stop();
  parts_->pasts.Stop();
  parts_->server->Shutdown(std::chrono::system_clock::now() + kStopTime);
  parts_->pump.Stop();
  parts_->server->Wait();
  parts_->server.reset();
}

}  // namespace espalier::master
