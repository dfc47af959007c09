#include "sim/tuned_study.h"

#include <optional>
#include <utility>

#include "master/core/views/makespan_bound.h"
#include "sim/service.h"
#include "sim/tuner_user.h"

namespace espalier::sim {
namespace {

constexpr Seconds kMonth{30 * 86400};
constexpr Seconds kAskAgain{1};
constexpr const char* kUser = "user";
constexpr const char* kTeam = "team";

class TunedStudy {
 public:
  TunedStudy(const StudyToSimulate& study, tuners::Tuner& tuner);

  Result<SimulatedStudy> Run();

 private:
  Service::Watcher WatcherOfService();
  void Post(master::Event event);
  void Create();
  void OnReply(const master::Reply& reply);
  void OnEvents(const master::EventsAdded& added);
  void SubmitAll();

  const StudyToSimulate study_;
  tuners::Driver driver_;
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

TunedStudy::TunedStudy(const StudyToSimulate& study, tuners::Tuner& tuner)
    : study_(study),
      driver_(tuner, study.specification.metric, study.specification.goal),
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
  for (const StudyEvent& event : added.events) {
    driver_.OnEvent(event);
    if (std::holds_alternative<StudyFinished>(event)) finished_at_ = world_.clock.now();
    const auto* settled = std::get_if<ClaimSettled>(&event);
    if (settled != nullptr && settled->state == ClaimState::kFailed) {
      error_ = MakeError(ErrorCode::kNotFound, settled->message).value();
    }
  }
  SubmitAll();
}

void TunedStudy::SubmitAll() {
  while (std::optional<master::SubmitBatch> batch = NextCall(driver_)) {
    batch->study = id_;
    const std::int64_t number = *batch->tuner_batch;
    Post(master::ClientCall{
        master::CallId{2 + number}, {.user = kUser, .team = kTeam}, std::to_string(number), *std::move(batch)});
  }
}

Result<SimulatedStudy> TunedStudy::Run() {
  service_.Start();
  Create();
  while (!finished_at_ && !error_) {
    if (!world_.clock.RunNext(kMonth)) return MakeError(ErrorCode::kInternal, "the study is not finished in a month");
  }
  if (error_) return tl::unexpected<Error>(*error_);
  const master::MasterState& stored = service_.stored();
  master::StudySummary summary = master::Summarize(stored, id_, world_.clock.time());
  summary.makespan_bound = master::MakespanBound(stored, stored.studies.at(id_));
  return SimulatedStudy{*finished_at_, std::move(summary)};
}

}  // namespace

Result<SimulatedStudy> SimulateStudy(const StudyToSimulate& study, tuners::Tuner& tuner) {
  return TunedStudy(study, tuner).Run();
}

}  // namespace espalier::sim
