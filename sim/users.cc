#include "sim/users.h"

#include <algorithm>
#include <utility>

namespace espalier::sim {
namespace {

constexpr Seconds kTryAgain{5};
constexpr Seconds kShortArrivals{100};
constexpr const char* kUser = "ann";
constexpr const char* kTeamOfUsers = "team";

bool SameAnswer(const decltype(master::Reply::answer)& a, const decltype(master::Reply::answer)& b) {
  if (a.index() != b.index()) return false;
  if (const auto* created = std::get_if<master::StudyCreated>(&a)) {
    return created->study == std::get<master::StudyCreated>(b).study;
  }
  const auto* submitted = std::get_if<master::Submitted>(&a);
  if (submitted == nullptr) return true;
  const auto& other = std::get<master::Submitted>(b);
  return submitted->trials == other.trials && submitted->claims == other.claims;
}

std::optional<PlanId> PlanOf(const master::MasterState& stored, PlanNodeId node) {
  for (const auto& [id, plan] : stored.plans) {
    if (plan.nodes.find(node) != plan.nodes.end()) return id;
  }
  return std::nullopt;
}

}  // namespace

Users::Users(World& world, UserSettings settings, std::function<void(master::ClientCall)> post)
    : world_(world), settings_(settings), post_(std::move(post)) {}

void Users::Begin() {
  const std::vector<Scope> scopes = {Scope::kTeam, Scope::kTeam, Scope::kStudy, Scope::kNobody};
  const std::size_t count =
      static_cast<std::size_t>(world_.chance.Whole(settings_.study_count_min, settings_.study_count_max));
  int left = settings_.trial_count;
  for (std::size_t i = 0; i < count; ++i) {
    studies_.push_back({.name = "study-" + std::to_string(i), .scope = scopes[i]});
    // Trials that share nothing cost the most.
    const int trials = count == 1 ? left : i + 1 == count ? std::min(left, 6) : left / 2 + (i == 0 ? left / 6 : 0);
    left -= trials;
    const Seconds at = i == 0 ? Seconds(1) : settings_.arrivals_until * (0.6 * world_.chance.Share());
    world_.clock.After(at, [this, i, trials] { CreateStudy(i, trials); });
  }
}

bool Users::AreDone() const {
  return waiting_count() == 0 &&
         std::all_of(studies_.begin(), studies_.end(), [](const UsersStudy& study) { return study.is_finished; });
}

std::size_t Users::waiting_count() const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(), [](const Request& request) { return !request.answer; }));
}

void Users::Ask(std::string request_id, decltype(master::ClientCall::what) what,
                std::function<void(const Answered&)> then) {
  requests_.push_back({std::move(request_id), std::move(what), std::move(then)});
  Try(requests_.size() - 1);
}

void Users::AskWhatMayBeRefused(decltype(master::ClientCall::what) what, std::function<void(const Answered&)> then) {
  requests_.push_back({"care-" + std::to_string(next_care_++), std::move(what), std::move(then), {}, true});
  Try(requests_.size() - 1);
}

void Users::Drain(const std::string& server, Seconds time) {
  AskWhatMayBeRefused(master::DrainServer{.server = server, .why = "to look at it"}, [=, this](const Answered&) {
    world_.clock.After(time, [=, this] {
      AskWhatMayBeRefused(master::DrainServer{.server = server, .off = true}, [](const Answered&) {});
    });
  });
}

void Users::BeLimitedFor(Seconds time) {
  const master::Party team{master::Party::Kind::kTeam, kTeamOfUsers};
  master::QuotaChange limits;
  master::QuotaChange none;
  if (world_.chance.OneIn(2)) {
    limits.device_time = Seconds(world_.chance.Whole(0, 100));
    none.device_time = std::optional<Seconds>();
  } else {
    limits.stored_bytes = world_.chance.Whole(0, 1'000'000);
    none.stored_bytes = std::optional<std::int64_t>();
  }
  // Nobody is of the team as far as the service knows, until then.
  const master::User user{.name = kUser, .team = kTeamOfUsers, .token_sha256 = std::string(64, '0')};
  AskWhatMayBeRefused(master::AddUser{user}, [=, this](const Answered&) {
    AskWhatMayBeRefused(master::LimitParty{team, limits}, [=, this](const Answered&) {
      world_.clock.After(time, [=, this] {
        AskWhatMayBeRefused(master::LimitParty{team, none}, [](const Answered&) {});
      });
    });
  });
}

void Users::Look(const master::MasterState& stored) {
  for (const auto& [stage, pauses] : stored.pauses) {
    const master::Pause& longest = *pauses.begin();
    if (longest.until != Time::max() || !retried_.insert(longest.node).second) continue;
    const PlanNode& node = stored.plans.at(*PlanOf(stored, longest.node)).Node(longest.node);
    const Point held{longest.node, std::max(longest.key.from, node.start) + 1};
    world_.Tell([&] { return "the operator retries node " + std::to_string(held.node.value); });
    AskWhatMayBeRefused(master::RetryStage{held}, [this, held](const Answered&) { retried_.erase(held.node); });
  }
}

void Users::Try(std::size_t request) {
  constexpr std::int64_t kOnceMoreOneIn = 10;
  const Request& asking = requests_[request];
  if (asking.answer && (asking.may_be_refused || !world_.chance.OneIn(kOnceMoreOneIn))) return;
  const master::CallId call{next_call_++};
  calls_[call] = request;
  world_.clock.After(world_.chance.About(world_.durations.network), [this, call, request] {
    const Request& asked = requests_[request];
    post_(master::ClientCall{call, {.user = kUser, .team = kTeamOfUsers}, asked.id, asked.what});
  });
  world_.clock.After(world_.chance.About(kTryAgain), [this, request] { Try(request); });
}

void Users::OnReply(const master::Reply& reply) {
  const auto call = calls_.find(reply.call);
  if (call == calls_.end()) return world_.Broken("each call is answered at most once");
  const std::size_t request = call->second;
  calls_.erase(call);
  constexpr std::int64_t kLostOneIn = 20;
  if (world_.chance.OneIn(kLostOneIn)) return;
  world_.clock.After(world_.chance.About(world_.durations.network),
                     [this, request, answer = reply.answer] { Take(request, answer); });
}

void Users::Take(std::size_t request, const Answered& answer) {
  if (const auto* error = std::get_if<Error>(&answer)) {
    if (error->code == ErrorCode::kUnavailable) return;  // asked again in time
    Request& refused = requests_[request];
    if (refused.may_be_refused) {
      if (refused.answer) return;
      refused.answer = answer;
      return refused.then(answer);
    }
    return world_.Broken("a call that is in order is not refused: " + error->message);
  }
  if (!requests_[request].answer) {
    requests_[request].answer = answer;
    return requests_[request].then(answer);
  }
  if (requests_[request].may_be_refused) return;
  if (!SameAnswer(*requests_[request].answer, answer)) world_.Broken("the same request again gets its first answer");
}

void Users::CreateStudy(std::size_t study, int trial_count) {
  master::CreateStudy create{
      {.name = studies_[study].name, .trainer = "simulated", .metric = "score", .scope = studies_[study].scope}};
  if (world_.chance.OneIn(3)) create.specification.evaluate_every = 5;
  if (world_.chance.OneIn(2)) {  // nothing is stopped at it
    create.specification.policy = {.deadline = Seconds(static_cast<double>(world_.chance.Whole(100, 3600))),
                                   .speeds = {{2, 1.9}}};
  }
  Ask("create-" + studies_[study].name, std::move(create), [this, study, trial_count](const Answered& answer) {
    studies_[study].id = std::get<master::StudyCreated>(answer).study;
    studies_[study].lives = trial_count + 1;  // one for the study itself
    // It is finished, and retired, while others go on.
    const bool is_short = settings_.mishaps && study > 0 && world_.chance.OneIn(2);
    for (int left = trial_count; left > 0;) {
      const int together = static_cast<int>(std::min<std::int64_t>(left, world_.chance.Whole(1, 4)));
      left -= together;
      const Seconds span =
          is_short ? kShortArrivals : std::max(Seconds(1), settings_.arrivals_until - world_.clock.now());
      world_.clock.After(span * world_.chance.Share(), [this, study, together] { SubmitTrials(study, together); });
    }
    const Seconds ends_in = is_short ? kShortArrivals : settings_.finish_from - world_.clock.now();
    world_.clock.After(ends_in, [this, study] { EndLife(study); });
  });
}

void Users::Submit(std::size_t study, master::SubmitBatch batch, std::function<void(const master::Submitted&)> then) {
  batch.study = studies_[study].id;
  Ask(std::to_string(next_request_id_++), std::move(batch),
      [then = std::move(then)](const Answered& answer) { then(std::get<master::Submitted>(answer)); });
}

std::string Users::DrawSequence() {
  Chance& chance = world_.chance;
  const auto value = [&] {
    if (settings_.mishaps && chance.OneIn(8)) return chance.OneOf<std::string>({"0.55", "0.6", "0.7", "0.8", "0.9"});
    return chance.OneOf<std::string>({"0.1", "0.2", "0.05"});
  };
  const auto milestone = [&](std::int64_t after) { return after + chance.OneOf<std::int64_t>({5, 10, 12}); };
  const std::int64_t first = milestone(0);
  switch (chance.Whole(0, 5)) {
    case 0:
      return value();
    case 1:
      return "MultiStep(" + value() + ", [" + std::to_string(first) + "], gamma=0.1)";
    case 2:
      return "Warmup(0.01, 5, MultiStep(0.1, [" + std::to_string(first) + "], 0.1))";
    case 3:
      return "Exponential(0.1, 0.9)";
    default:
      return "Piecewise([" + value() + ", " + value() + ", " + value() + "], [" + std::to_string(first) + ", " +
             std::to_string(milestone(first)) + "])";
  }
}

master::NewTrial Users::DrawTrial() {
  Chance& chance = world_.chance;
  master::NewTrial trial{.sequences = {{"lr", DrawSequence()}}};
  if (chance.OneIn(6))
    trial.sequences["bs"] = "MultiStep(32, [" + std::to_string(chance.Whole(1, 2) * 10) + "], gamma=2)";
  if (chance.OneIn(12)) trial.sequences["seed"] = "2";
  trial.steps = Step{chance.OneOf<std::int64_t>({1, 8, 15, 20, 30, 40})};
  trial.horizon = trial.steps + chance.OneOf<std::int64_t>({0, 5, 10, 20});
  return trial;
}

void Users::SubmitTrials(std::size_t study, int count) {
  master::SubmitBatch batch;
  for (int i = 0; i < count; ++i) batch.new_trials.push_back(DrawTrial());
  Submit(study, batch, [this, study, trials = batch.new_trials](const master::Submitted& submitted) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      world_.Tell([&] {
        std::string line = "trial " + std::to_string(submitted.trials.at(i).value) + " is";
        for (const auto& [name, text] : trials[i].sequences) line += " " + name + "=" + text;
        return line;
      });
      LiveOn(study, submitted.trials.at(i), trials[i].steps, trials[i].horizon);
    }
  });
}

// What a trial's user does next with it, and when.
void Users::LiveOn(std::size_t study, TrialId trial, Step claimed, Step horizon) {
  Chance& chance = world_.chance;
  const std::int64_t choice = chance.Whole(0, 9);
  const Seconds pause = chance.Magnitude(1, 300);
  if (choice <= 4 && claimed < horizon) {
    const Step next{chance.Whole(claimed.value + 1, horizon.value)};
    world_.clock.After(pause, [=, this] {
      Submit(study, {.claims = {{trial, next}}},
             [=, this](const master::Submitted&) { LiveOn(study, trial, next, horizon); });
    });
  } else if (choice == 5 || choice >= 8) {
    world_.clock.After(pause, [=, this] {
      master::SubmitBatch batch;
      (choice == 5 ? batch.cancel : batch.close).push_back(trial);
      Submit(study, batch, [=, this](const master::Submitted&) { EndLife(study); });
    });
  } else {
    EndLife(study);  // stays open until the study is finished
  }
}

void Users::EndLife(std::size_t study) {
  constexpr std::int64_t kCancelledOneIn = 4;
  if (--studies_[study].lives > 0) return;
  if (settings_.mishaps && study > 0 && world_.chance.OneIn(kCancelledOneIn)) {
    return Ask("cancel-" + studies_[study].name, master::CancelStudy{studies_[study].id},
               [this, study](const Answered&) { studies_[study].is_finished = true; });
  }
  Submit(study, {.finish = true}, [this, study](const master::Submitted&) { studies_[study].is_finished = true; });
}

}  // namespace espalier::sim
