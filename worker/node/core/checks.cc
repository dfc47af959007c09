#include "worker/node/core/checks.h"

#include <algorithm>

#include "worker/node/core/run_path.h"

namespace espalier::node {
namespace {

constexpr int kDeathsMax = 3;

std::string Minutes(Seconds time) {
  const auto minutes = std::max<std::int64_t>(1, static_cast<std::int64_t>(time.count() / 60));
  return std::to_string(minutes) + (minutes == 1 ? " minute" : " minutes");
}

}  // namespace

void Checks::Want(const std::vector<WantedCheck>& wanted, Actions& actions) {
  std::map<Digest128, Check> now_wanted;
  for (const WantedCheck& each : wanted) {
    const Digest128 trainer = TrainerDigest(each.offer);
    const auto known = checks_.find(trainer);
    const bool goes_on = known != checks_.end() && known->second.wanted.slot == each.slot;
    if (goes_on) {
      now_wanted.insert(checks_.extract(known));
    } else {
      now_wanted.emplace(trainer, Check{each, Waiting{}});
    }
  }
  for (const auto& [trainer, check] : checks_) Kill(check, actions);
  checks_ = std::move(now_wanted);
}

void Checks::Kill(const Check& check, Actions& actions) {
  const auto* running = std::get_if<Running>(&check.state);
  if (running == nullptr) return;
  killed_[running->process] = check.wanted.slot;
  actions.push_back(KillCheck{running->process});
}

const WantedCheck* Checks::Next(int slot, Seconds now) const {
  if (IsOn(slot)) return nullptr;
  for (const auto& [trainer, check] : checks_) {
    const auto* waiting = std::get_if<Waiting>(&check.state);
    if (check.wanted.slot == slot && waiting != nullptr && now >= waiting->again_at) return &check.wanted;
  }
  return nullptr;
}

void Checks::Begin(const WantedCheck& wanted, std::int64_t process, const std::string& runtime, Seconds now,
                   Actions& actions) {
  const Configuration root = wanted.root.Unpack();
  Init init{.run = {},
            .trainer = wanted.offer.trainer,
            .data = wanted.offer.data,
            .step = wanted.step,
            .values = ValuesAtStart(wanted.offer.schema, root),
            .step_log = {}};
  actions.push_back(
      StartCheck{wanted.slot, process, runtime, wanted.reservation, DigestOf(wanted.offer), std::move(init)});
  checks_.at(TrainerDigest(wanted.offer)).state = Running{process, now};
}

bool Checks::IsOn(int slot) const {
  return std::ranges::any_of(killed_, [&](const auto& item) { return item.second == slot; }) ||
         std::ranges::any_of(checks_, [&](const auto& item) {
           return item.second.wanted.slot == slot && std::holds_alternative<Running>(item.second.state);
         });
}

void Checks::OnEnded(std::int64_t process, const std::optional<CheckFinding>& finding, const std::string& last_words,
                     Seconds now) {
  killed_.erase(process);
  for (auto& [trainer, check] : checks_) {
    const auto* running = std::get_if<Running>(&check.state);
    if (running == nullptr || running->process != process) continue;
    if (finding.has_value()) {
      check.state = *finding;
    } else if (++check.deaths < kDeathsMax) {
      check.state = Waiting{now + check.pause.Next()};
    } else {
      check.state =
          CheckFinding{CheckOutcome::kGivenUp, "it died " + std::to_string(kDeathsMax) + " times: " + last_words};
    }
  }
}

void Checks::OnTick(Seconds now, Actions& actions) {
  for (auto& [trainer, check] : checks_) {
    const auto* running = std::get_if<Running>(&check.state);
    if (running == nullptr || now - running->begun_at <= check.wanted.limit) continue;
    Kill(check, actions);
    check.state = CheckFinding{CheckOutcome::kGivenUp, "it took more than " + Minutes(check.wanted.limit) +
                                                           "; `espalier trainer check` takes as long as it takes, and "
                                                           "so does check: first"};
  }
}

std::vector<CheckedTrainer> Checks::Checked() const {
  std::vector<CheckedTrainer> checked;
  for (const auto& [trainer, check] : checks_) {
    const auto* finding = std::get_if<CheckFinding>(&check.state);
    if (finding != nullptr) checked.push_back({trainer, *finding});
  }
  return checked;
}

}  // namespace espalier::node
