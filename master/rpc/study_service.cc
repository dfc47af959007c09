#include "master/rpc/study_service.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "espalier/v1/study.grpc.pb.h"
#include "master/rpc/batch_size.h"
#include "master/rpc/convert.h"

namespace espalier::master {
namespace {

constexpr Seconds kProgressPeriod{0.5};
constexpr double kProgressShareMax = 0.02;  // of the event loop's time that one watcher's progress may take
constexpr std::int64_t kEventsATurnMax = 1000;
constexpr std::size_t kResponseBytes = 1 << 20;  // a response is sent once it has so many

// What a watcher is sent in one turn.
struct Turn {
  bool finished = false;
  std::vector<StudyEvent> events;
  bool all_events = false;
  std::optional<StudyProgress> progress;
};

// When to tell a watcher how far the study is: counting costs what the study holds, so that of a large one is told less
// often.
class ProgressClock {
 public:
  bool IsDue() const { return MonotonicNow() >= due_; }
  Seconds Left() const { return std::max(Seconds{0}, due_ - MonotonicNow()); }

  StudyProgress Count(const MasterState& state, StudyId study) {
    const Seconds begun = MonotonicNow();
    StudyProgress progress = ProgressOf(state, study, Now());
    const Seconds now = MonotonicNow();
    due_ = now + std::max(kProgressPeriod, (now - begun) / kProgressShareMax);
    return progress;
  }

 private:
  Seconds due_{0};
};

// What is to be sent from event `next` on. Error: kNotFound; kInvalidArgument when there can be no such number;
// kFailedPrecondition when the study has not so many events.
Result<Turn> TakeTurn(const MasterState& state, StudyId id, std::int64_t next, const Caller& caller,
                      ProgressClock& clock) {
  ESPALIER_ASSIGN(const Study* study, FindStudy(state, id, caller));
  if (next < 1) {
    return MakeError(ErrorCode::kInvalidArgument, "events count from 1, got " + std::to_string(next), "from_event");
  }
  Turn turn;
  const std::vector<StudyEvent>& events = state.events.at(id);
  const auto count = static_cast<std::int64_t>(events.size());
  if (next - 1 > count) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the study has " + std::to_string(count) + " events, and is asked for those from " +
                         std::to_string(next) +
                         " on: who asks knows more than the database, which may be a restored one",
                     "from_event");
  }
  const std::int64_t end = std::min(count, next - 1 + kEventsATurnMax);
  turn.events.assign(events.begin() + (next - 1), events.begin() + end);
  turn.all_events = end >= count;
  turn.finished = turn.all_events && study->finished_at.has_value();
  if (turn.all_events && !turn.finished && clock.IsDue()) turn.progress = clock.Count(state, id);
  return turn;
}

// New events alone.
Turn TurnOf(std::vector<StudyEvent> news) {
  const bool finished = std::holds_alternative<StudyFinished>(news.back());
  return {.finished = finished, .events = std::move(news), .all_events = true};
}

// Events from number `next` on, which is moved behind them, and the progress. False: nobody listens any more.
bool Send(const Turn& turn, std::int64_t& next, grpc::internal::WriterInterface<v1::WatchResponse>& writer) {
  v1::WatchResponse response;
  std::size_t bytes = 0;
  for (const StudyEvent& event : turn.events) {
    v1::StudyEvent& message = *response.add_events();
    message = ToProto(event, next++);
    bytes += message.ByteSizeLong();
    if (bytes < kResponseBytes) continue;
    if (!writer.Write(response)) return false;
    response.Clear();
    bytes = 0;
  }
  if (turn.progress) *response.mutable_progress() = ToProto(*turn.progress);
  const bool is_empty = response.events().empty() && !response.has_progress();
  return is_empty || writer.Write(response);
}

}  // namespace

StudyService::StudyService(MasterPort& master, PendingCalls& calls, StudyWatch& watch, const Callers& callers)
    : GuardedService(v1::StudyService::service_full_name(), callers),
      master_(master),
      calls_(calls),
      watch_(watch),
      callers_(callers) {
  Serve("CreateStudy", &Callers::Member, &StudyService::CreateStudy);
  Serve("PutArchive", &Callers::Member, &StudyService::PutArchive);
  Serve("DescribeTrainer", &Callers::Member, &StudyService::DescribeTrainer);
  Serve("Submit", &Callers::Member, &StudyService::Submit);
  Serve("CancelStudy", &Callers::Member, &StudyService::CancelStudy);
  Serve("ContinueTrial", &Callers::Member, &StudyService::ContinueTrial);
  Serve("RetryStage", &Callers::Member, &StudyService::RetryStage);
  ServeStream("Watch", &Callers::Member, &StudyService::Watch);
}

template <class Reply, class Request, class What>
Result<Reply> StudyService::Ask(const Caller& caller, const Request& request, What what) {
  return calls_.Ask<Reply>(master_, {.caller = caller, .request_id = request.request_id(), .what = std::move(what)});
}

Result<void> StudyService::CreateStudy(const Caller& caller, const v1::CreateStudyRequest& request,
                                       v1::CreateStudyResponse& response) {
  ESPALIER_ASSIGN(StudySpecification specification, FromProto(request.study()));
  ESPALIER_ASSIGN(const StudyCreated created,
                  Ask<StudyCreated>(caller, request, master::CreateStudy{std::move(specification)}));
  response.set_study_id(created.study.value);
  response.set_attached(created.attached);
  return {};
}

Result<void> StudyService::PutArchive(const Caller& caller, const v1::PutArchiveRequest& request,
                                      v1::PutArchiveResponse&) {
  ESPALIER_RETURN_IF_ERROR(Ask<ArchivePut>(caller, request, master::PutArchive{request.archive()}));
  return {};
}

Result<void> StudyService::DescribeTrainer(const Caller& caller, const v1::DescribeTrainerRequest& request,
                                           v1::DescribeTrainerResponse& response) {
  TrainerReference reference = FromProto(request.reference());
  reference.user = caller.user;
  reference.team = caller.team;
  ESPALIER_ASSIGN(const TrainerAsked asked,
                  Ask<TrainerAsked>(caller, request, master::DescribeTrainer{std::move(reference)}));
  response.set_reference_digest(ToHex(asked.reference));
  return {};
}

Result<void> StudyService::Submit(const Caller& caller, const v1::SubmitRequest& request,
                                  v1::SubmitResponse& response) {
  SubmitBatch batch = FromProto(request);
  ESPALIER_RETURN_IF_ERROR(CheckBatchSize(batch));
  ESPALIER_ASSIGN(const Submitted submitted, Ask<Submitted>(caller, request, std::move(batch)));
  for (const TrialId trial : submitted.trials) response.add_trial_ids(trial.value);
  for (const ClaimId claim : submitted.claims) response.add_claim_ids(claim.value);
  return {};
}

Result<void> StudyService::CancelStudy(const Caller& caller, const v1::CancelStudyRequest& request,
                                       v1::CancelStudyResponse&) {
  ESPALIER_RETURN_IF_ERROR(Ask<StudyCancelled>(caller, request, master::CancelStudy{StudyId{request.study_id()}}));
  return {};
}

Result<void> StudyService::ContinueTrial(const Caller& caller, const v1::ContinueTrialRequest& request,
                                         v1::ContinueTrialResponse& response) {
  ESPALIER_ASSIGN(const TrialContinued continued, Ask<TrialContinued>(caller, request, FromProto(request)));
  response.set_study_id(continued.study.value);
  for (const TrialId trial : continued.trials) response.add_trial_ids(trial.value);
  for (const ClaimId claim : continued.claims) response.add_claim_ids(claim.value);
  return {};
}

Result<void> StudyService::RetryStage(const Caller& caller, const v1::RetryStageRequest& request,
                                      v1::RetryStageResponse& response) {
  const Point point{PlanNodeId{request.plan_node_id()}, Step{request.step()}};
  ESPALIER_ASSIGN(const StageRetried retried, Ask<StageRetried>(caller, request, master::RetryStage{point}));
  for (const TrialId trial : retried.trials) response.add_trial_ids(trial.value);
  response.set_other_count(retried.other_count);
  return {};
}

Result<void> StudyService::Watch(const grpc::ServerContext& context, const Caller& caller,
                                 const v1::WatchRequest& request,
                                 grpc::internal::WriterInterface<v1::WatchResponse>& writer) {
  ESPALIER_ASSIGN(const StreamPlaces::Place place, watches_.Take(caller.user));
  const StudyId study{request.study_id()};
  std::int64_t next = request.from_event() == 0 ? 1 : request.from_event();
  ProgressClock clock;
  StudyWatch::Listener listener(watch_, study);  // before the state is looked at: nothing is missed between
  std::optional<std::vector<StudyEvent>> news;
  while (!context.IsCancelled() && !watch_.stopped()) {
    ESPALIER_ASSIGN(const Caller still, callers_.Member(context));  // the token may be revoked meanwhile
    Result<Turn> turn;
    if (news) {
      turn = TurnOf(*std::move(news));
    } else {
      ESPALIER_RETURN_IF_ERROR(
          master_.Read([&](const MasterState& state) { turn = TakeTurn(state, study, next, still, clock); }));
      ESPALIER_RETURN_IF_ERROR(turn);
    }
    if (!Send(*turn, next, writer)) break;
    if (turn->finished) return {};
    news.reset();
    if (!turn->all_events || clock.IsDue()) continue;
    news = listener.Next(next, std::chrono::ceil<std::chrono::milliseconds>(clock.Left()));
  }
  return MakeError(ErrorCode::kUnavailable, "the master is stopping; try again");
}

}  // namespace espalier::master
