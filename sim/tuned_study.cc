#include "sim/tuned_study.h"

#include <utility>

#include "client/tuners/batch_cut.h"
#include "sim/tuner_user.h"

namespace espalier::sim {
namespace {

constexpr Seconds kAskAgain{1};
constexpr Seconds kNotKnownYet{0.01};
constexpr Seconds kUntilAnotherHost{5};
// Call ids: of study n those from n times so many on. The first is the call that creates it.
constexpr std::int64_t kCallsMax = 1'000'000'000;

}  // namespace

TunedStudy::TunedStudy(World& world, StudyToSimulate study, std::int64_t number,
                       std::function<void(master::Event)> post)
    : world_(world), study_(std::move(study)), number_(number), post_(std::move(post)) {}

void TunedStudy::Begin() {
  world_.clock.After(study_.arrives_at, [this] {
    if (study_.make_tuner) StartHost();
    Create();
  });
  for (std::size_t i = 0; i < study_.batches.size(); ++i) {
    world_.clock.After(study_.arrives_at + study_.batches[i].at, [this, i] { SubmitTimed(i); });
  }
  if (study_.cancelled_after) {
    world_.clock.After(study_.arrives_at + *study_.cancelled_after, [this] { Cancel(); });
  }
}

void TunedStudy::Call(std::int64_t call, const std::string& request_id, decltype(master::ClientCall::what) what) {
  if (is_cancelled_) return;
  master::ClientCall asked{master::CallId{number_ * kCallsMax + call},
                           {.user = "user-" + std::to_string(number_), .team = study_.team},
                           request_id,
                           std::move(what)};
  world_.clock.After(world_.durations.network, [this, host = killed_hosts_, asked = std::move(asked)] {
    if (host == killed_hosts_) post_(asked);
  });
}

// Again until a server has registered, and whatever becomes of a host meanwhile.
void TunedStudy::Create() {
  if (id_ != StudyId{}) return;
  Call(0, "create", master::CreateStudy{study_.specification});
  world_.clock.After(kAskAgain, [this] { Create(); });
}

bool TunedStudy::Asked(const master::Reply& reply) const { return reply.call.value / kCallsMax == number_; }

void TunedStudy::OnReply(const master::Reply& reply) {
  if (const auto* error = std::get_if<Error>(&reply.answer)) {
    if (error->code != ErrorCode::kUnavailable && !error_) error_ = InWhole(reply, *error);
    return;
  }
  const auto* created = std::get_if<master::StudyCreated>(&reply.answer);
  if (created == nullptr || id_ != StudyId{}) return;
  id_ = created->study;
  SubmitAll();
}

void TunedStudy::OnEvents(const std::vector<StudyEvent>& events) {
  for (const StudyEvent& event : events) OnEvent(event);
  SubmitAll();
}

void TunedStudy::OnEvent(const StudyEvent& event) {
  events_.push_back(event);
  if (const auto* submitted = std::get_if<TrialSubmitted>(&event)) trials_.push_back(submitted->trial);
  if (std::holds_alternative<StudyFinished>(event)) finished_at_ = world_.clock.now();
  const auto* settled = std::get_if<ClaimSettled>(&event);
  if (settled != nullptr && settled->state == ClaimState::kFailed && !error_) {
    error_ = MakeError(ErrorCode::kNotFound, settled->message).value();
  }
  if (!driver_) return;
  driver_->OnEvent(event);
  if (study_.host_killed_after.contains(events_.size())) KillHost();
}

void TunedStudy::StartHost() {
  tuner_ = study_.make_tuner();
  driver_.emplace(*tuner_, study_.specification.metric, study_.specification.goal);
  for (const StudyEvent& event : events_) driver_->OnEvent(event);
  SubmitAll();
}

void TunedStudy::KillHost() {
  driver_.reset();
  ++killed_hosts_;
  world_.clock.After(kUntilAnotherHost, [this] { StartHost(); });
}

void TunedStudy::Cancel() {
  if (finished_at_) return;
  if (id_ == StudyId{}) return world_.clock.After(kAskAgain, [this] { Cancel(); });
  Call(kCallsMax - 1, "cancel", master::CancelStudy{id_});
  is_cancelled_ = true;
}

// Again in a moment, while the study or a trial that it names is not known yet.
void TunedStudy::SubmitTimed(std::size_t place) {
  master::SubmitBatch batch = study_.batches[place].batch;
  bool is_known = id_ != StudyId{};
  const auto find = [&](TrialId& trial) {
    const auto index = static_cast<std::size_t>(trial.value - 1);
    is_known &= index < trials_.size();
    if (is_known) trial = trials_[index];
  };
  for (master::FurtherClaim& claim : batch.claims) find(claim.trial);
  for (TrialId& trial : batch.close) find(trial);
  for (TrialId& trial : batch.cancel) find(trial);
  if (!is_known) return world_.clock.After(kNotKnownYet, [this, place] { SubmitTimed(place); });
  batch.study = id_;
  Call(1 + static_cast<std::int64_t>(place), "batch-" + std::to_string(place), std::move(batch));
}

void TunedStudy::SubmitAll() {
  if (id_ == StudyId{} || !driver_) return;
  for (TunerCalls calls = NextCalls(*driver_); !calls.parts.empty(); calls = NextCalls(*driver_)) {
    const std::int64_t first = calls_ + 1;
    for (std::size_t i = 0; i < calls.parts.size(); ++i) {
      master::SubmitBatch batch = calls.CallOf(i);
      batch.study = id_;
      Call(++calls_, calls.RequestId(i), std::move(batch));
    }
    if (calls.parts.size() > 1) cut_.emplace(first, std::move(calls.parts));
  }
}

// As one of its whole batch, if it is about a part.
Error TunedStudy::InWhole(const master::Reply& reply, Error error) const {
  const std::int64_t call = reply.call.value % kCallsMax;
  auto cut = cut_.upper_bound(call);
  if (cut == cut_.begin()) return error;
  --cut;
  const auto before = static_cast<std::size_t>(call - cut->first);
  return before < cut->second.size() ? InWholeBatch(std::move(error), cut->second, before) : error;
}

}  // namespace espalier::sim
