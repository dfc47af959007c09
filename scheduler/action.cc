#include "scheduler/action.h"

#include "base/text.h"

namespace espalier {
namespace {

std::string Print(const Reservation& reservation) {
  std::string text = std::to_string(reservation.compute) + " thousandths of it";
  if (reservation.memory_bytes > 0) text += ", " + std::to_string(reservation.memory_bytes) + " bytes";
  return reservation.host_cores == 0 ? text : text + ", " + std::to_string(reservation.host_cores) + " cores";
}

struct Printer {
  std::string operator()(const StartPath& start) const {
    const std::string what = start.first ? " under " + std::to_string(start.first->value) : ", evaluated";
    return "start plan " + std::to_string(start.plan.value) + " at " + std::to_string(start.source.node.value) + "@" +
           std::to_string(start.source.step.value) + what + " on " + start.slot.server + "/" +
           std::to_string(start.slot.index) + (start.reservation ? ", " + Print(*start.reservation) : "") +
           (start.one_stage ? ", one stage" : "");
  }
  std::string operator()(const PreemptRun& preempt) const { return "preempt run " + std::to_string(preempt.run.value); }
  std::string operator()(const ReleaseTrial& release) const {
    return "release trial " + std::to_string(release.trial.value);
  }
  std::string operator()(const ClaimStep& claim) const {
    return "claim step " + std::to_string(claim.step.value) + " of trial " + std::to_string(claim.trial.value);
  }
  std::string operator()(const LabelTrial& label) const {
    return "label trial " + std::to_string(label.trial.value) + ": " + label.text;
  }
  std::string operator()(const AnalyseCurve& analyse) const {
    return "analyse the curve of trial " + std::to_string(analyse.question.trial.value) + " to step " +
           std::to_string(analyse.question.at.step.value);
  }
};

}  // namespace

std::string Print(const Action& action) { return std::visit(Printer{}, action); }

}  // namespace espalier
