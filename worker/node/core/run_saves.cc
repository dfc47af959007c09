#include "worker/node/core/run_saves.h"

#include "base/check.h"

namespace espalier::node {

void RunSaves::Begin(Step step, std::string staged, Seconds now) {
  const bool is_new = saves_.emplace(step, Writing{now, now, std::move(staged)}).second;
  ESPALIER_CHECK(is_new) << "step " << step.value << " is saved twice";
}

void RunSaves::OnHeartbeat(Step step, Seconds now) {
  const auto it = saves_.find(step);
  if (it == saves_.end()) return;
  if (auto* writing = std::get_if<Writing>(&it->second)) writing->heard_at = now;
}

std::optional<Seconds> RunSaves::OnWritten(Step step, Seconds now) {
  const auto it = saves_.find(step);
  const Writing* writing = it == saves_.end() ? nullptr : std::get_if<Writing>(&it->second);
  if (writing == nullptr) return std::nullopt;
  const Seconds took = now - writing->asked_at;
  it->second = Uploading{std::string(writing->staged)};
  return took;
}

void RunSaves::OnStored(Step step) { saves_[step] = Stored{}; }

std::optional<std::string> RunSaves::Lose(Step step) {
  const auto it = saves_.find(step);
  if (it == saves_.end()) return std::nullopt;
  std::optional<std::string> staged;
  if (const auto* writing = std::get_if<Writing>(&it->second)) staged = writing->staged;
  if (const auto* uploading = std::get_if<Uploading>(&it->second)) staged = uploading->staged;
  if (staged.has_value()) it->second = Lost{};
  return staged;
}

bool RunSaves::IsLost(Step step) const {
  const auto it = saves_.find(step);
  return it != saves_.end() && std::holds_alternative<Lost>(it->second);
}

bool RunSaves::IsUnderWay(Step step) const {
  const auto it = saves_.find(step);
  if (it == saves_.end()) return false;
  return std::holds_alternative<Writing>(it->second) || std::holds_alternative<Uploading>(it->second);
}

std::vector<Step> RunSaves::UnderWay() const {
  std::vector<Step> steps;
  for (const auto& [step, save] : saves_) {
    if (IsUnderWay(step)) steps.push_back(step);
  }
  return steps;
}

std::vector<Step> RunSaves::BeingWritten() const {
  std::vector<Step> steps;
  for (const auto& [step, save] : saves_) {
    if (std::holds_alternative<Writing>(save)) steps.push_back(step);
  }
  return steps;
}

std::vector<Step> RunSaves::Overdue(Seconds limit, Seconds now) const {
  std::vector<Step> steps;
  for (const auto& [step, save] : saves_) {
    const auto* writing = std::get_if<Writing>(&save);
    if (writing != nullptr && now - writing->heard_at > limit) steps.push_back(step);
  }
  return steps;
}

}  // namespace espalier::node
