#include "worker/node/uplink.h"

#include <grpcpp/grpcpp.h>
#include <poll.h>

#include <algorithm>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/text.h"
#include "base/token.h"
#include "base/version.h"
#include "espalier/v1/node_manager.grpc.pb.h"
#include "proto/convert_node_protocol.h"
#include "proto/convert_time.h"
#include "proto/unknown_parts.h"

namespace espalier::node {
namespace {

constexpr Seconds kStatusPeriod{1};
constexpr Seconds kStatusPause{0.02};  // since anything was sent; reports that come meanwhile take statuses along
constexpr Seconds kPauseFirst{0.1};
constexpr Seconds kPauseMax{2};
constexpr std::size_t kReportsInMessageMax = 1000;

// But for the step, which changes all the time and can wait.
bool SameButForSteps(const std::vector<RunStatus>& a, const std::vector<RunStatus>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const RunStatus& one, const RunStatus& other) {
    return one.run == other.run && one.generation == other.generation && one.state == other.state;
  });
}

}  // namespace

// One stream. gRPC's threads only post; every member is used on the event loop.
class Uplink::Stream : public grpc::ClientBidiReactor<v1::SynchronizeRequest, v1::SynchronizeResponse> {
 public:
  Stream(v1::NodeManagerService::Stub& stub, State& state);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  void Send(const Registration& registration, const Core& core, Seconds now);
  void Cancel() { context_.TryCancel(); }

 private:
  void OnRefused(const std::string& why);
  bool AnythingNew(const Registration& registration, const Core& core, const std::vector<RunStatus>& statuses,
                   Seconds now) const;

  State& state_;
  grpc::ClientContext context_;
  v1::SynchronizeRequest request_;
  v1::SynchronizeResponse response_;
  bool writing_ = false;
  bool broken_ = false;
  std::optional<Registration> registered_;
  std::vector<RunStatus> sent_statuses_;
  std::int64_t sent_report_ = 0;
  Seconds sent_at_{0};
};

struct Uplink::State {
  const std::string token;
  LoopQueue& queue;
  std::function<void(const ServerOrders&)> on_orders;
  std::unique_ptr<v1::NodeManagerService::Stub> stub;
  std::unique_ptr<Stream> stream;
  Seconds connect_at{0};
  Seconds pause = kPauseFirst;
  bool connected = false;
  bool said_away = false;
  std::string trouble;
  std::string refused;  // why this server is, as was said last; empty: it is not
};

namespace {

// What is not known of an order must not be left out of account.
Result<ServerOrders> OrdersOf(const v1::SynchronizeResponse& response) {
  if (const auto unknown = FindUnknown(response)) {
    return MakeError(ErrorCode::kWrongVersion,
                     "this node manager, " + std::string(UserAgent()) + ", does not know " + unknown->text +
                         ": the master is newer; install the node manager that came with it",
                     unknown->field);
  }
  return FromProto(response);
}

}  // namespace

Uplink::Stream::Stream(v1::NodeManagerService::Stub& stub, State& state) : state_(state) {
  if (!state_.token.empty()) {
    context_.AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + state_.token);
  }
  stub.async()->Synchronize(&context_, this);
  AddHold();  // writes begin outside of gRPC's calls, until a read has failed
  StartRead(&response_);
  StartCall();
}

void Uplink::Stream::OnReadDone(bool ok) {
  state_.queue.Post([this, ok] {
    if (!ok) {
      broken_ = true;
      RemoveHold();
      return;
    }
    const Result<ServerOrders> orders = OrdersOf(response_);
    if (orders.has_value() && !orders->refused.empty()) return OnRefused(orders->refused);
    state_.refused.clear();
    if (!std::exchange(state_.connected, true)) Log(LogLevel::kInfo, "connected to the master");
    state_.said_away = false;
    state_.pause = kPauseFirst;
    StartRead(&response_);
    const std::string was = std::exchange(state_.trouble, orders.has_value() ? "" : orders.error().message);
    if (orders.has_value()) return state_.on_orders(*orders);
    if (was == state_.trouble) return;
    Log(LogLevel::kError, "orders that make no sense, ignored",
        {{"field", orders.error().field}, {"reason", orders.error().message}});
  });
}

// The stream's end is no news then. What it trains is lost to the master.
void Uplink::Stream::OnRefused(const std::string& why) {
  const std::string reason = CleanText(why);
  if (std::exchange(state_.refused, reason) != reason) {
    Log(LogLevel::kError, "the master does not take this server, trying again", {{"reason", reason}});
  }
  state_.said_away = true;
  broken_ = true;
  Cancel();
  RemoveHold();
  state_.on_orders({});
}

void Uplink::Stream::OnWriteDone(bool) {
  state_.queue.Post([this] {
    writing_ = false;
    if (request_.reports_size() > 0) ESPALIER_FAILPOINT("report.sent");
  });
}

void Uplink::Stream::OnDone(const grpc::Status& status) {
  state_.queue.Post([&state = state_, code = status.error_code(), message = status.error_message()] {
    if (!std::exchange(state.said_away, true)) {
      const bool is_refused = code == grpc::UNAUTHENTICATED || code == grpc::PERMISSION_DENIED;
      Log(is_refused ? LogLevel::kError : LogLevel::kWarning,
          is_refused ? "the master does not take this server, trying again" : "the master is away, trying again",
          {{"reason", message}});
    }
    state.connected = false;
    state.stream.reset();
  });
}

bool Uplink::Stream::AnythingNew(const Registration& registration, const Core& core,
                                 const std::vector<RunStatus>& statuses, Seconds now) const {
  return registered_ != registration || now - sent_at_ >= kStatusPeriod ||
         !core.outbox().After(sent_report_, 1).empty() ||
         (now - sent_at_ >= kStatusPause && !SameButForSteps(statuses, sent_statuses_));
}

void Uplink::Stream::Send(const Registration& registration, const Core& core, Seconds now) {
  if (writing_ || broken_) return;
  const std::vector<RunStatus> statuses = core.Statuses();
  if (!AnythingNew(registration, core, statuses, now)) return;
  request_.Clear();
  if (registered_ != registration) {
    *request_.mutable_registration() = ToProto(registration);
    *request_.mutable_sent_at() = ToProto(Now());
    registered_ = registration;
  }
  for (const RunStatus& status : statuses) *request_.add_runs() = ToProto(status);
  const std::vector<Report> reports = core.outbox().After(sent_report_, kReportsInMessageMax);
  for (const Report& report : reports) *request_.add_reports() = ToProto(report);
  request_.set_acknowledged_report(core.outbox().acknowledged());
  if (!reports.empty()) sent_report_ = reports.back().number;
  sent_statuses_ = statuses;
  sent_at_ = now;
  writing_ = true;
  StartWrite(&request_);
}

Uplink::Uplink(const std::shared_ptr<grpc::Channel>& master, std::string token, LoopQueue& queue,
               std::function<void(const ServerOrders&)> on_orders)
    : state_(
          new State{std::move(token), queue, std::move(on_orders), v1::NodeManagerService::NewStub(master), nullptr}) {}

Uplink::~Uplink() {
  if (state_->stream) state_->stream->Cancel();
  state_->on_orders = [](const ServerOrders&) {};
  while (state_->stream) {
    pollfd waiting{state_->queue.fd(), POLLIN, 0};
    poll(&waiting, 1, -1);
    state_->queue.RunAll();
  }
}

bool Uplink::is_connected() const { return state_->connected; }

const std::string& Uplink::trouble() const { return state_->trouble; }

void Uplink::Exchange(const Registration& registration, const Core& core, Seconds now) {
  if (state_->stream) return state_->stream->Send(registration, core, now);
  if (now < state_->connect_at) return;
  state_->connect_at = now + state_->pause;
  state_->pause = std::min(2 * state_->pause, kPauseMax);
  state_->stream = std::make_unique<Stream>(*state_->stub, *state_);
  state_->stream->Send(registration, core, now);
}

}  // namespace espalier::node
