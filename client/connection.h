// The calls to a master, every one with the same retry: kUnavailable and kAborted are tried again, with the same
// request (and so with the same request id), with growing pauses, for as long as the policy allows. Safe, since every
// mutation is keyed by its request id. Any thread may call.
#pragma once

#include <memory>
#include <string>

#include "base/encryption.h"
#include "base/result.h"
#include "base/units.h"
#include "client/study_port.h"
#include "espalier/v1/checkpoint.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/server.pb.h"
#include "espalier/v1/study.pb.h"
#include "espalier/v1/tuner.pb.h"
#include "espalier/v1/user.pb.h"

namespace espalier {

class StudyEvents;

// One stream of the events of several studies.
class StudiesCall {
 public:
  virtual ~StudiesCall() = default;
  // From any thread: sent in order, as soon as the server takes it; this does not wait for it.
  virtual void Send(const v1::WatchStudiesRequest& request) = 0;
  // Blocks until the server is there, or cannot be reached. Once, before anything is read.
  virtual void Begin() = 0;
  // Blocks. False: the stream has ended; Finish says why.
  virtual bool Read(v1::WatchStudiesResponse& response) = 0;
  // REQUIRES: Read returned false.
  virtual Result<void> Finish() = 0;
  // From any thread, also before Begin: ends the stream soon.
  virtual void Cancel() = 0;
};

class Connection : public StudyPort {
 public:
  // Address: "unix:/path" or "host:port". `token` goes with every call; empty: none does. Errors: kUnavailable if
  // nobody answers within the policy's patience; kInvalidArgument with the field of `encryption`. REQUIRES: a token is
  // as ParseToken gives it.
  static Result<std::shared_ptr<Connection>> Open(const std::string& address, const RetryPolicy& policy,
                                                  const std::string& token = {}, const Encryption& encryption = {});
  ~Connection() override;

  // Errors of each: the master's own, with the field that it names.
  Result<v1::CreateStudyResponse> CreateStudy(const v1::CreateStudyRequest& request);
  Result<v1::SubmitResponse> Submit(const v1::SubmitRequest& request) override;
  Result<v1::PinStudyResponse> PinStudy(const v1::PinStudyRequest& request);
  Result<v1::CancelStudyResponse> CancelStudy(const v1::CancelStudyRequest& request);
  Result<v1::PutArchiveResponse> PutArchive(const v1::PutArchiveRequest& request);
  Result<v1::ContinueTrialResponse> ContinueTrial(const v1::ContinueTrialRequest& request);
  Result<v1::RetryStageResponse> RetryStage(const v1::RetryStageRequest& request);
  Result<v1::DescribeTrainerResponse> DescribeTrainer(const v1::DescribeTrainerRequest& request);
  Result<v1::ListTrainersResponse> ListTrainers(const v1::ListTrainersRequest& request);
  Result<v1::GetTrainerResponse> GetTrainer(const v1::GetTrainerRequest& request);
  Result<v1::ListServersResponse> ListServers(const v1::ListServersRequest& request);
  Result<v1::ListStudiesResponse> ListStudies(const v1::ListStudiesRequest& request);
  Result<v1::GetStudyResponse> GetStudy(const v1::GetStudyRequest& request);
  Result<v1::ListTrialsResponse> ListTrials(const v1::ListTrialsRequest& request);
  Result<v1::GetTrialResponse> GetTrial(const v1::GetTrialRequest& request);
  Result<v1::GetTrialOutputResponse> GetTrialOutput(const v1::GetTrialOutputRequest& request);
  Result<v1::GetTrainingMetricsResponse> GetTrainingMetrics(const v1::GetTrainingMetricsRequest& request);
  Result<v1::GetPlanResponse> GetPlan(const v1::GetPlanRequest& request);
  Result<v1::ListRunsResponse> ListRuns(const v1::ListRunsRequest& request);
  Result<v1::ListEventsResponse> ListEvents(const v1::ListEventsRequest& request);
  Result<v1::ListCheckpointsResponse> ListCheckpoints(const v1::ListCheckpointsRequest& request);
  Result<v1::FindOrphansResponse> FindOrphans(const v1::FindOrphansRequest& request);
  Result<v1::ExplainStageResponse> ExplainStage(const v1::ExplainStageRequest& request);
  Result<v1::ForecastResponse> Forecast(const v1::ForecastRequest& request);
  Result<v1::AddUserResponse> AddUser(const v1::AddUserRequest& request);
  Result<v1::ListUsersResponse> ListUsers(const v1::ListUsersRequest& request);
  Result<v1::RemoveUserResponse> RemoveUser(const v1::RemoveUserRequest& request);
  Result<v1::WeighTeamResponse> WeighTeam(const v1::WeighTeamRequest& request);
  Result<v1::SetQuotaResponse> SetQuota(const v1::SetQuotaRequest& request);
  Result<v1::ListQuotasResponse> ListQuotas(const v1::ListQuotasRequest& request);
  Result<v1::WeighStudyResponse> WeighStudy(const v1::WeighStudyRequest& request);
  Result<v1::DrainServerResponse> DrainServer(const v1::DrainServerRequest& request);
  Result<v1::SetPolicyResponse> SetPolicy(const v1::SetPolicyRequest& request);
  Result<v1::GetMasterResponse> GetMaster(const v1::GetMasterRequest& request);
  Result<v1::GetPolicyResponse> GetPolicy(const v1::GetPolicyRequest& request);
  Result<v1::GetServerLogResponse> GetServerLog(const v1::GetServerLogRequest& request);

  // One attempt: who reads it starts the next from the next event.
  std::unique_ptr<WatchCall> Watch(const v1::WatchRequest& request) override;

  // One attempt.
  std::unique_ptr<StudiesCall> WatchStudies();

  // Of all the studies that are waited for.
  StudyEvents& events() const;

  const RetryPolicy& policy() const override;
  const std::string& address() const;

  // As a tuner host, for the users whose studies these are. The port is the connection's.
  Result<v1::FindStudyResponse> FindStudyToTune(const v1::FindStudyRequest& request);
  StudyPort& AsTunerHost();

 private:
  struct Parts;
  explicit Connection(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
  std::unique_ptr<StudyEvents> events_;  // ends first
};

// What the server says of a watch that it ends. REQUIRES: its status is not 0.
Error WhyEnded(const v1::WatchEnded& ended);

// True if the whole call may be tried again.
bool MayRetry(const Error& error);

// What is said of it once the policy's patience has ended.
Error GivenUp(const Error& error);

// The pause before attempt number `attempt` (0: the first repetition).
Seconds PauseBefore(const RetryPolicy& policy, int attempt);

}  // namespace espalier
