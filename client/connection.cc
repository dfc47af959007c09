#include "client/connection.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/token.h"
#include "base/version.h"
#include "client/study_events.h"
#include "espalier/v1/checkpoint.grpc.pb.h"
#include "espalier/v1/inspect.grpc.pb.h"
#include "espalier/v1/server.grpc.pb.h"
#include "espalier/v1/study.grpc.pb.h"
#include "espalier/v1/tuner.grpc.pb.h"
#include "espalier/v1/user.grpc.pb.h"
#include "proto/channel.h"
#include "proto/unknown_parts.h"

namespace espalier {
namespace {

constexpr Seconds kLongestDeadline = std::chrono::hours(24 * 365);  // later ones are none

ErrorCode CodeOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
      return ErrorCode::kInvalidArgument;
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorCode::kUnauthenticated;
    case grpc::StatusCode::PERMISSION_DENIED:
      return ErrorCode::kPermissionDenied;
    case grpc::StatusCode::NOT_FOUND:
      return ErrorCode::kNotFound;
    case grpc::StatusCode::ALREADY_EXISTS:
      return ErrorCode::kAlreadyExists;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return ErrorCode::kFailedPrecondition;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ErrorCode::kResourceExhausted;
    case grpc::StatusCode::ABORTED:
      return ErrorCode::kAborted;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED:  // a server that stops cancels what it was doing
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorCode::kUnavailable;
    case grpc::StatusCode::UNIMPLEMENTED:
      return ErrorCode::kWrongVersion;
    case grpc::StatusCode::OK:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::DATA_LOSS:
    case grpc::StatusCode::DO_NOT_USE:
      return ErrorCode::kInternal;
  }
  return ErrorCode::kInternal;
}

// The name of the call that takes such a request.
template <class Request>
std::string CallOf() {
  const std::string& name = Request::descriptor()->name();
  return name.substr(0, name.size() - std::string_view("Request").size());
}

template <class Request>
Error ToError(const grpc::Status& status) {
  v1::ErrorDetail detail;
  const bool is_the_masters = !status.error_details().empty() && detail.ParseFromString(status.error_details());
  if (!is_the_masters) detail.Clear();
  // gRPC itself answers so for a server without such a call; a master says what else it does not know.
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED && !is_the_masters) {
    return Error{ErrorCode::kWrongVersion,
                 "the server does not know " + CallOf<Request>() +
                     ": it is of another version than this program; use one that came with the server",
                 {}};
  }
  return Error{CodeOf(status.error_code()), status.error_message(), detail.field()};
}

// What an answer says that this program does not know, and may not guess at. New fields are none: who does not know
// them does not need them.
template <class Response>
std::optional<UnknownPart> FindMisunderstood(const Response& response) {
  if constexpr (requires { response.events(); }) {
    for (const v1::StudyEvent& event : response.events()) {
      if (event.kind_case() == v1::StudyEvent::KIND_NOT_SET) {
        return UnknownPart{"StudyEvent.kind", "event " + std::to_string(event.number())};
      }
    }
  }
  return FindUnknownValue(response);
}

Error Misunderstood(const UnknownPart& what) {
  return Error{ErrorCode::kWrongVersion,
               "the server says something that this program, " + std::string(UserAgent()) +
                   ", does not know: " + what.text + "; the server is newer: use a program that came with it",
               what.field};
}

// Of a stream, which ends at the first response that is not understood.
class Understanding {
 public:
  // Whether the response was read, and is understood.
  template <class Stream, class Response>
  bool Read(Stream& stream, grpc::ClientContext& context, Response& response) {
    if (!stream.Read(&response)) return false;
    const std::optional<UnknownPart> what = FindMisunderstood(response);
    if (!what) return true;
    misunderstood_ = Misunderstood(*what);
    context.TryCancel();
    while (stream.Read(&response)) {  // to its end, as gRPC wants it
    }
    return false;
  }

  template <class Request>
  Result<void> Outcome(const grpc::Status& status) const {
    if (misunderstood_) return tl::unexpected<Error>(*misunderstood_);
    if (status.ok()) return {};
    return tl::unexpected<Error>(ToError<Request>(status));
  }

 private:
  std::optional<Error> misunderstood_;
};

void LimitTime(grpc::ClientContext& context, const RetryPolicy& policy) {
  if (policy.attempt_deadline > kLongestDeadline) return;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::microseconds>(policy.attempt_deadline));
}

void ShowToken(grpc::ClientContext& context, const std::string& token) {
  if (!token.empty()) context.AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + token);
}

class GrpcWatchCall : public WatchCall {
 public:
  template <class Stub>
  GrpcWatchCall(Stub& stub, const v1::WatchRequest& request, const std::string& token, const RetryPolicy& policy) {
    // Who waits for so long only looks again and again.
    context_.set_wait_for_ready(policy.call_patience == Seconds::max());
    ShowToken(context_, token);
    reader_ = stub.Watch(&context_, request);
  }

  bool Read(v1::WatchResponse& response) override { return understanding_.Read(*reader_, context_, response); }

  Result<void> Finish() override { return understanding_.Outcome<v1::WatchRequest>(reader_->Finish()); }

  void Cancel() override { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchResponse>> reader_;
  Understanding understanding_;
};

class GrpcStudiesCall : public StudiesCall {
 public:
  GrpcStudiesCall(v1::StudyService::Stub& stub, const std::string& token, const RetryPolicy& policy) : stub_(stub) {
    context_.set_wait_for_ready(policy.call_patience == Seconds::max());
    ShowToken(context_, token);
  }
  ~GrpcStudiesCall() override { StopWriting(); }

  void Send(const v1::WatchStudiesRequest& request) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    changed_.notify_one();
  }

  void Begin() override {
    stream_ = stub_.WatchStudies(&context_);
    writing_ = std::thread([this] { Write(); });
  }

  bool Read(v1::WatchStudiesResponse& response) override { return understanding_.Read(*stream_, context_, response); }

  Result<void> Finish() override {
    StopWriting();
    return understanding_.Outcome<v1::WatchStudiesRequest>(stream_->Finish());
  }

  void Cancel() override { context_.TryCancel(); }

 private:
  // Until nothing can be sent any more.
  void Write() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopped_ || !requests_.empty(); });
      if (stopped_) return;
      const v1::WatchStudiesRequest request = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      const bool is_sent = stream_->Write(request);
      lock.lock();
      if (!is_sent) return;
    }
  }

  void StopWriting() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_one();
    }
    if (writing_.joinable()) writing_.join();
  }

  v1::StudyService::Stub& stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WatchStudiesRequest, v1::WatchStudiesResponse>> stream_;
  Understanding understanding_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::WatchStudiesRequest> requests_;
  bool stopped_ = false;
  std::thread writing_;
};

}  // namespace

Error WhyEnded(const v1::WatchEnded& ended) {
  return Error{CodeOf(static_cast<grpc::StatusCode>(ended.status())), ended.message(), ended.field()};
}

bool MayRetry(const Error& error) { return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kAborted; }

Error GivenUp(const Error& error) {
  if (error.code != ErrorCode::kUnavailable) return error;
  return Error{error.code, "the server does not answer (" + error.message + "); start it again with: espalier up",
               error.field};
}

Seconds PauseBefore(const RetryPolicy& policy, int attempt) {
  return std::min(policy.longest_pause, policy.first_pause * std::exp2(std::min(attempt, 30)));
}

struct Connection::Parts : StudyPort {
  Parts(std::string called, std::shared_ptr<grpc::Channel> opened, const RetryPolicy& retry_policy,
        std::string shown_token)
      : address(std::move(called)),
        retry(retry_policy),
        channel(std::move(opened)),
        token(std::move(shown_token)),
        study(v1::StudyService::NewStub(channel)),
        inspect(v1::InspectService::NewStub(channel)),
        checkpoint(v1::CheckpointService::NewStub(channel)),
        user(v1::UserService::NewStub(channel)),
        server(v1::ServerService::NewStub(channel)),
        tuner(v1::TunerService::NewStub(channel)) {}

  std::string address;
  RetryPolicy retry;
  std::shared_ptr<grpc::Channel> channel;
  std::string token;
  std::unique_ptr<v1::StudyService::Stub> study;
  std::unique_ptr<v1::InspectService::Stub> inspect;
  std::unique_ptr<v1::CheckpointService::Stub> checkpoint;
  std::unique_ptr<v1::UserService::Stub> user;
  std::unique_ptr<v1::ServerService::Stub> server;
  std::unique_ptr<v1::TunerService::Stub> tuner;

  // As a tuner host.
  Result<v1::SubmitResponse> Submit(const v1::SubmitRequest& request) override {
    return Call(*tuner, &v1::TunerService::Stub::Submit, request);
  }
  std::unique_ptr<WatchCall> Watch(const v1::WatchRequest& request) override {
    return std::make_unique<GrpcWatchCall>(*tuner, request, token, retry);
  }
  const RetryPolicy& policy() const override { return retry; }

  // A channel connects only while somebody waits for it: a thread that merely slept would sleep in vain.
  void Pause(Seconds pause) {
    const auto until = std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::microseconds>(pause);
    if (channel->GetState(/*try_to_connect=*/true) != GRPC_CHANNEL_READY) {
      channel->WaitForConnected(until);
    } else {
      std::this_thread::sleep_until(until);
    }
  }

  template <class Response, class Stub, class Request>
  Result<Response> Call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                        const Request& request) {
    if (const std::size_t bytes = request.ByteSizeLong(); bytes > kRequestBytesMax) {
      return MakeError(ErrorCode::kResourceExhausted, "a request has at most " + std::to_string(kRequestBytesMax) +
                                                          " bytes, got " + std::to_string(bytes) +
                                                          "; ask for less at once");
    }
    const Seconds started = MonotonicNow();
    for (int attempt = 0;; ++attempt) {
      grpc::ClientContext context;
      LimitTime(context, retry);
      ShowToken(context, token);
      Response response;
      const grpc::Status status = (stub.*method)(&context, request, &response);
      if (status.ok()) {
        if (const auto what = FindMisunderstood(response)) return tl::unexpected<Error>(Misunderstood(*what));
        return response;
      }
      const Error error = ToError<Request>(status);
      if (!MayRetry(error)) return tl::unexpected<Error>(error);
      const Seconds pause = PauseBefore(retry, attempt);
      if (MonotonicNow() - started + pause > retry.call_patience) return tl::unexpected<Error>(GivenUp(error));
      Pause(pause);
    }
  }
};

Connection::Connection(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)), events_(std::make_unique<StudyEvents>(*this)) {}
Connection::~Connection() = default;

namespace {

// Somebody listens there, and one of the two does not let the other in: then gRPC's words for it, else "".
std::string WhyNotLetIn(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
  v1::GetTrialResponse response;
  std::string why = v1::InspectService::NewStub(channel)->GetTrial(&context, {}, &response).error_message();
  for (const char* word : {"Socket closed", "Connection reset", "Peer name", "andshake", "ertificate"}) {
    if (why.find(word) != std::string::npos) return why;
  }
  return "";
}

Error NobodyAnswers(const std::string& address, const std::string& why_not_let_in) {
  if (why_not_let_in.empty()) {
    return {ErrorCode::kUnavailable, "no server answers at " + address + "; start one with: espalier up", {}};
  }
  return {ErrorCode::kUnavailable,
          "the server at " + address +
              " and this program do not come together: if it encrypts, ca_file has to be its " +
              "authority's, server_name whom its certificate names, certificate_file yours if it asks for one; if it " +
              "does not, it was being stopped or cut off: try again (" + why_not_let_in + ")",
          {}};
}

}  // namespace

Result<std::shared_ptr<Connection>> Connection::Open(const std::string& address, const RetryPolicy& policy,
                                                     const std::string& token, const Encryption& encryption) {
  ESPALIER_ASSIGN(std::shared_ptr<grpc::Channel> channel, OpenChannel(address, encryption));
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(policy.first_connection_patience);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + patience)) {
    return tl::unexpected<Error>(NobodyAnswers(address, WhyNotLetIn(channel)));
  }
  return std::shared_ptr<Connection>(
      new Connection(std::make_unique<Parts>(address, std::move(channel), policy, token)));
}

const RetryPolicy& Connection::policy() const { return parts_->retry; }
StudyEvents& Connection::events() const { return *events_; }
const std::string& Connection::address() const { return parts_->address; }

Result<v1::CreateStudyResponse> Connection::CreateStudy(const v1::CreateStudyRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::CreateStudy, request);
}
Result<v1::SubmitResponse> Connection::Submit(const v1::SubmitRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::Submit, request);
}
Result<v1::PinStudyResponse> Connection::PinStudy(const v1::PinStudyRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::PinStudy, request);
}
Result<v1::CancelStudyResponse> Connection::CancelStudy(const v1::CancelStudyRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::CancelStudy, request);
}
Result<v1::PutArchiveResponse> Connection::PutArchive(const v1::PutArchiveRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::PutArchive, request);
}
Result<v1::ContinueTrialResponse> Connection::ContinueTrial(const v1::ContinueTrialRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::ContinueTrial, request);
}
Result<v1::RetryStageResponse> Connection::RetryStage(const v1::RetryStageRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::RetryStage, request);
}
Result<v1::DescribeTrainerResponse> Connection::DescribeTrainer(const v1::DescribeTrainerRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::DescribeTrainer, request);
}
Result<v1::ListTrainersResponse> Connection::ListTrainers(const v1::ListTrainersRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::ListTrainers, request);
}
Result<v1::GetTrainerResponse> Connection::GetTrainer(const v1::GetTrainerRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetTrainer, request);
}
Result<v1::ListServersResponse> Connection::ListServers(const v1::ListServersRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::ListServers, request);
}
Result<v1::ListStudiesResponse> Connection::ListStudies(const v1::ListStudiesRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::ListStudies, request);
}
Result<v1::GetStudyResponse> Connection::GetStudy(const v1::GetStudyRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetStudy, request);
}
Result<v1::ListTrialsResponse> Connection::ListTrials(const v1::ListTrialsRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::ListTrials, request);
}
Result<v1::GetTrialResponse> Connection::GetTrial(const v1::GetTrialRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetTrial, request);
}
Result<v1::GetTrainingMetricsResponse> Connection::GetTrainingMetrics(const v1::GetTrainingMetricsRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetTrainingMetrics, request);
}

Result<v1::GetTrialOutputResponse> Connection::GetTrialOutput(const v1::GetTrialOutputRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetTrialOutput, request);
}
Result<v1::ListRunsResponse> Connection::ListRuns(const v1::ListRunsRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::ListRuns, request);
}

Result<v1::ListEventsResponse> Connection::ListEvents(const v1::ListEventsRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::ListEvents, request);
}

Result<v1::GetPlanResponse> Connection::GetPlan(const v1::GetPlanRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetPlan, request);
}
Result<v1::ListCheckpointsResponse> Connection::ListCheckpoints(const v1::ListCheckpointsRequest& request) {
  return parts_->Call(*parts_->checkpoint, &v1::CheckpointService::Stub::ListCheckpoints, request);
}
Result<v1::FindOrphansResponse> Connection::FindOrphans(const v1::FindOrphansRequest& request) {
  return parts_->Call(*parts_->checkpoint, &v1::CheckpointService::Stub::FindOrphans, request);
}
Result<v1::ExplainStageResponse> Connection::ExplainStage(const v1::ExplainStageRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::ExplainStage, request);
}
Result<v1::ForecastResponse> Connection::Forecast(const v1::ForecastRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::Forecast, request);
}
Result<v1::AddUserResponse> Connection::AddUser(const v1::AddUserRequest& request) {
  return parts_->Call(*parts_->user, &v1::UserService::Stub::AddUser, request);
}
Result<v1::ListUsersResponse> Connection::ListUsers(const v1::ListUsersRequest& request) {
  return parts_->Call(*parts_->user, &v1::UserService::Stub::ListUsers, request);
}
Result<v1::RemoveUserResponse> Connection::RemoveUser(const v1::RemoveUserRequest& request) {
  return parts_->Call(*parts_->user, &v1::UserService::Stub::RemoveUser, request);
}
Result<v1::WeighTeamResponse> Connection::WeighTeam(const v1::WeighTeamRequest& request) {
  return parts_->Call(*parts_->user, &v1::UserService::Stub::WeighTeam, request);
}
Result<v1::SetQuotaResponse> Connection::SetQuota(const v1::SetQuotaRequest& request) {
  return parts_->Call(*parts_->user, &v1::UserService::Stub::SetQuota, request);
}
Result<v1::ListQuotasResponse> Connection::ListQuotas(const v1::ListQuotasRequest& request) {
  return parts_->Call(*parts_->user, &v1::UserService::Stub::ListQuotas, request);
}
Result<v1::WeighStudyResponse> Connection::WeighStudy(const v1::WeighStudyRequest& request) {
  return parts_->Call(*parts_->study, &v1::StudyService::Stub::WeighStudy, request);
}
Result<v1::DrainServerResponse> Connection::DrainServer(const v1::DrainServerRequest& request) {
  return parts_->Call(*parts_->server, &v1::ServerService::Stub::DrainServer, request);
}
Result<v1::SetPolicyResponse> Connection::SetPolicy(const v1::SetPolicyRequest& request) {
  return parts_->Call(*parts_->server, &v1::ServerService::Stub::SetPolicy, request);
}
Result<v1::GetMasterResponse> Connection::GetMaster(const v1::GetMasterRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetMaster, request);
}
Result<v1::GetPolicyResponse> Connection::GetPolicy(const v1::GetPolicyRequest& request) {
  return parts_->Call(*parts_->inspect, &v1::InspectService::Stub::GetPolicy, request);
}
Result<v1::GetServerLogResponse> Connection::GetServerLog(const v1::GetServerLogRequest& request) {
  return parts_->Call(*parts_->server, &v1::ServerService::Stub::GetServerLog, request);
}

Result<v1::FindStudyResponse> Connection::FindStudyToTune(const v1::FindStudyRequest& request) {
  return parts_->Call(*parts_->tuner, &v1::TunerService::Stub::FindStudy, request);
}

StudyPort& Connection::AsTunerHost() { return *parts_; }

std::unique_ptr<StudiesCall> Connection::WatchStudies() {
  return std::make_unique<GrpcStudiesCall>(*parts_->study, parts_->token, parts_->retry);
}

std::unique_ptr<WatchCall> Connection::Watch(const v1::WatchRequest& request) {
  return std::make_unique<GrpcWatchCall>(*parts_->study, request, parts_->token, parts_->retry);
}

}  // namespace espalier
