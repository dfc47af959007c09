#include "scheduler/slice_marks.h"

#include <utility>

#include "scheduler/label_text.h"

namespace espalier {
std::string Print(const SliceMark& mark) {
  std::string text = "plan ";
  AppendNumber(text, mark.plan.value);
  text += " at ";
  AppendNumber(text, mark.at.node.value);
  text += "@";
  AppendNumber(text, mark.at.step.value);
  if (const auto& known = mark.convergence) {
    text += ", rate ";
    AppendNumber(text, known->rate);
    text += " loss ";
    AppendNumber(text, known->loss);
    text += " of ";
    AppendNumber(text, known->first_loss);
    text += " milestones ";
    AppendNumber(text, known->milestones);
  }
  text += ", since ";
  AppendNumber(text, mark.since.time_since_epoch().count());
  text += " losses ";
  AppendNumber(text, mark.losses.count);
  for (const double loss : {mark.losses.first, mark.losses.last, mark.losses.least, mark.losses.most}) {
    text += " ";
    AppendNumber(text, loss);
  }
  if (mark.slot) {
    text += ", on slot ";
    AppendNumber(text, mark.slot->index);
    text += " of " + mark.slot->server;
  }
  return text;
}

std::optional<SliceMark> ParseSliceMark(std::string_view text) {
  SliceMark mark;
  LabelReader reader(text);
  reader.Skip("plan ").Take(mark.plan.value).Skip(" at ").Take(mark.at.node.value).Skip("@").Take(mark.at.step.value);
  if (reader.Begins(", rate ")) {
    Convergence& known = mark.convergence.emplace();
    reader.Skip(", rate ").Take(known.rate).Skip(" loss ").Take(known.loss).Skip(" of ").Take(known.first_loss);
    reader.Skip(" milestones ").Take(known.milestones);
  }
  std::int64_t since = 0;
  reader.Skip(", since ").Take(since).Skip(" losses ").Take(mark.losses.count);
  for (double* loss : {&mark.losses.first, &mark.losses.last, &mark.losses.least, &mark.losses.most}) {
    reader.Skip(" ").Take(*loss);
  }
  mark.since = Time(std::chrono::microseconds(since));
  if (reader.Begins(", on slot ")) {
    SlotId& slot = mark.slot.emplace();
    reader.Skip(", on slot ").Take(slot.index).Skip(" of ").TakeRest(slot.server);
  }
  return reader.is_done() ? std::optional(mark) : std::nullopt;
}

void SliceMarks::Set(TrialId trial, const SliceMark& mark) {
  Erase(trial);
  if (mark.convergence) at_[{mark.plan, mark.at.node}][mark.at.step].insert(trial);
  marks_.emplace(trial, mark);
}

void SliceMarks::Erase(TrialId trial) {
  const auto known = marks_.find(trial);
  if (known == marks_.end()) return;
  const SliceMark& mark = known->second;
  if (mark.convergence) {
    const auto node = at_.find({mark.plan, mark.at.node});
    const auto step = node->second.find(mark.at.step);
    step->second.erase(trial);
    if (step->second.empty()) node->second.erase(step);
    if (node->second.empty()) at_.erase(node);
  }
  marks_.erase(known);
}

const SliceMark* SliceMarks::Of(TrialId trial) const {
  const auto known = marks_.find(trial);
  return known == marks_.end() ? nullptr : &known->second;
}

const SliceMark* SliceMarks::At(PlanId plan, Point point) const {
  const auto node = at_.find({plan, point.node});
  if (node == at_.end()) return nullptr;
  const auto step = node->second.find(point.step);
  return step == node->second.end() ? nullptr : &marks_.at(*step->second.begin());
}

const SliceMark* SliceMarks::Known(PlanId plan, const std::vector<Point>& way) const {
  for (auto last = way.rbegin(); last != way.rend(); ++last) {
    const auto node = at_.find({plan, last->node});
    if (node == at_.end()) continue;
    const auto beyond = node->second.upper_bound(last->step);
    if (beyond != node->second.begin()) return &marks_.at(*std::prev(beyond)->second.begin());
  }
  return nullptr;
}

const SliceMark* SliceMarks::Beyond(PlanId plan, Point point) const {
  const auto node = at_.find({plan, point.node});
  if (node == at_.end()) return nullptr;
  const auto beyond = node->second.upper_bound(point.step);
  return beyond == node->second.end() ? nullptr : &marks_.at(*beyond->second.begin());
}

}  // namespace espalier
