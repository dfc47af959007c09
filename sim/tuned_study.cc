#include "sim/tuned_study.h"

#include <optional>
#include <utility>

#include "client/tuners/driver.h"
#include "master/core/views/makespan_bound.h"
#include "sim/service.h"
#include "sim/tuner_user.h"

namespace espalier::sim {
namespace {

constexpr Seconds kMonth{30 * 86400};
constexpr Seconds kAskAgain{1};
constexpr Seconds kUntilAnotherHost{5};
constexpr const char* kUser = "user";
constexpr const char* kTeam = "team";

class TunedStudy {
 public:
  TunedStudy(const StudyToSimulate& study, const TunerMaker& make_tuner);

  Result<SimulatedStudy> Run();

 private:
  Service::Watcher WatcherOfService();
  void Post(master::Event event);
  void Create();
  void OnReply(const master::Reply& reply);
  void OnEvents(const master::EventsAdded& added);
  void OnEvent(const StudyEvent& event);
  void StartHost();
  void KillHost();
  void SubmitAll();

  const StudyToSimulate study_;
  const TunerMaker make_tuner_;
  std::unique_ptr<tuners::Tuner> tuner_;
  std::optional<tuners::Driver> driver_;  // none: the host was killed
  std::int64_t killed_hosts_ = 0;
  std::vector<StudyEvent> events_;
  World world_;
  Service service_;
  StudyId id_;
  std::optional<Error> error_;
  std::optional<Seconds> finished_at_;
};

World WorldOf(const StudyToSimulate& study) {
  World world(study.seed, 0);
  world.durations = study.durations;
  world.curves = study.curves;
  return world;
}

ServiceSettings SettingsOf(const StudyToSimulate& study) {
  const master::StudySpecification& specification = study.specification;
  return {.server_count = 1,
          .slot_count = study.slot_count,
          .offer = FormulaOffer(specification.trainer, specification.data, specification.metric),
          .policy = study.policy};
}

TunedStudy::TunedStudy(const StudyToSimulate& study, const TunerMaker& make_tuner)
    : study_(study),
      make_tuner_(make_tuner),
      world_(WorldOf(study)),
      service_(world_, SettingsOf(study), WatcherOfService()) {}

Service::Watcher TunedStudy::WatcherOfService() {
  const auto on_released = [this](const master::Effect& effect) {
    if (const auto* reply = std::get_if<master::Reply>(&effect)) {
      world_.clock.After(study_.durations.network, [this, reply = *reply] { OnReply(reply); });
    }
    if (const auto* added = std::get_if<master::EventsAdded>(&effect)) {
      world_.clock.After(study_.durations.network, [this, added = *added] { OnEvents(added); });
    }
  };
  return {.master = {.decided = [](const auto&, const auto&, const auto&) {},
                     .stored = [](const auto&) {},
                     .released = on_released,
                     .loaded = [](const auto&) {}},
          .node = {.trained = [](const auto&) {},
                   .returned = [](const auto&) {},
                   .struck = [](const auto&) {},
                   .refused = [](const auto&) {},
                   .acknowledged = [](const auto&) {}},
          .arrived = [](const auto&) {}};
}

void TunedStudy::Post(master::Event event) {
  world_.clock.After(study_.durations.network, [this, event = std::move(event)] { service_.master().Post(event); });
}

// Again until the server has registered.
void TunedStudy::Create() {
  if (id_ != StudyId{}) return;
  Post(master::ClientCall{
      master::CallId{1}, {.user = kUser, .team = kTeam}, "create", master::CreateStudy{study_.specification}});
  world_.clock.After(kAskAgain, [this] { Create(); });
}

void TunedStudy::OnReply(const master::Reply& reply) {
  if (const auto* error = std::get_if<Error>(&reply.answer)) {
    if (error->code != ErrorCode::kUnavailable) error_ = *error;
    return;
  }
  const auto* created = std::get_if<master::StudyCreated>(&reply.answer);
  if (created == nullptr || id_ != StudyId{}) return;
  id_ = created->study;
  SubmitAll();
}

void TunedStudy::OnEvents(const master::EventsAdded& added) {
  for (const StudyEvent& event : added.events) OnEvent(event);
  SubmitAll();
}

void TunedStudy::OnEvent(const StudyEvent& event) {
  events_.push_back(event);
  if (std::holds_alternative<StudyFinished>(event)) finished_at_ = world_.clock.now();
  const auto* settled = std::get_if<ClaimSettled>(&event);
  if (settled != nullptr && settled->state == ClaimState::kFailed) {
    error_ = MakeError(ErrorCode::kNotFound, settled->message).value();
  }
  if (!driver_) return;
  driver_->OnEvent(event);
  if (study_.host_killed_after.contains(events_.size())) KillHost();
}

void TunedStudy::StartHost() {
  tuner_ = make_tuner_();
  driver_.emplace(*tuner_, study_.specification.metric, study_.specification.goal);
  for (const StudyEvent& event : events_) driver_->OnEvent(event);
  SubmitAll();
}

void TunedStudy::KillHost() {
  driver_.reset();
  ++killed_hosts_;
  world_.clock.After(kUntilAnotherHost, [this] { StartHost(); });
}

void TunedStudy::SubmitAll() {
  if (id_ == StudyId{} || !driver_) return;
  while (std::optional<master::SubmitBatch> batch = NextCall(*driver_)) {
    batch->study = id_;
    const std::int64_t number = *batch->tuner_batch;
    master::ClientCall call{
        master::CallId{2 + number}, {.user = kUser, .team = kTeam}, std::to_string(number), *std::move(batch)};
    world_.clock.After(study_.durations.network, [this, host = killed_hosts_, call = std::move(call)] {
      if (host == killed_hosts_) service_.master().Post(call);
    });
  }
}

Result<SimulatedStudy> TunedStudy::Run() {
  service_.Start();
  StartHost();
  Create();
  while (!finished_at_ && !error_) {
    if (!world_.clock.RunNext(kMonth)) return MakeError(ErrorCode::kInternal, "the study is not finished in a month");
  }
  if (error_) return tl::unexpected<Error>(*error_);
  const master::MasterState& stored = service_.stored();
  master::StudySummary summary = master::Summarize(stored, id_, world_.clock.time());
  summary.makespan_bound = master::MakespanBound(stored, stored.studies.at(id_));
  return SimulatedStudy{*finished_at_, std::move(summary), std::move(events_)};
}

}  // namespace

Result<SimulatedStudy> SimulateStudy(const StudyToSimulate& study, const TunerMaker& make_tuner) {
  return TunedStudy(study, make_tuner).Run();
}

}  // namespace espalier::sim
