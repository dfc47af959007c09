#include "worker/check/check.h"

#include "base/clock.h"
#include "worker/check/performer.h"

namespace espalier::trainer_check {
namespace {

class Checker {
 public:
  Checker(Workers& workers, const std::filesystem::path& folder, const Subject& subject,
          const std::function<void(const std::string&)>& say)
      : performer_(workers, folder, subject.offer.trainer, subject.offer.data), subject_(subject), say_(say) {
    report_.declares_reload = workers.Can(worker::capability::kReload);
  }

  Result<void> Run() {
    const Seconds begin = MonotonicNow();
    ESPALIER_RETURN_IF_ERROR(RunStraight());
    const std::vector<Pass> passes = Disturbed(subject_.end, FirstChange(report_.course));
    for (std::size_t i = 0; i < passes.size() && !report_.finding.has_value(); ++i) {
      const std::vector<Pass> rest(passes.begin() + static_cast<std::ptrdiff_t>(i) + 1, passes.end());
      ESPALIER_RETURN_IF_ERROR(RunPass(passes[i], ProcessCount(rest) > 0));
    }
    ESPALIER_RETURN_IF_ERROR(report_.finding.has_value() ? Explain() : Reload());
    report_.steps = performer_.counts().steps;
    report_.states = performer_.counts().states;
    report_.evaluations = performer_.counts().evaluations;
    report_.time = MonotonicNow() - begin;
    return {};
  }

  Report Finish() && { return std::move(report_); }

 private:
  Result<void> RunPass(const Pass& pass, bool more_processes) {
    say_(pass.name);
    ESPALIER_ASSIGN(report_.finding, performer_.Perform(pass, more_processes));
    report_.passes.push_back({pass.name, !report_.finding.has_value()});
    return {};
  }

  void Follow(std::vector<Change> changes) {
    report_.changes = std::move(changes);
    report_.course = CourseOf(subject_.offer.schema, subject_.given, report_.changes, subject_.step, subject_.end);
    performer_.Follow(report_.course);
  }

  // With as many second values as the trainer takes.
  Result<void> RunStraight() {
    Follow(ChangesToTry(subject_.offer.schema, subject_.given, Step{subject_.end.value / 2}, subject_.end));
    ESPALIER_RETURN_IF_ERROR(RunPass(Straight(subject_.end), true));
    const bool may_be_a_value =
        report_.finding.has_value() && !report_.changes.empty() && report_.finding->step >= report_.changes.front().at;
    if (!may_be_a_value) return {};
    const std::vector<Change> all = report_.changes;
    std::vector<Change> taken;
    for (const Change& change : all) {
      Follow({change});
      ESPALIER_ASSIGN(const std::optional<Finding> refused, performer_.Perform(Straight(change.at + 1), true));
      if (refused.has_value()) {
        report_.not_tried.push_back({change, refused->message});
      } else {
        taken.push_back(change);
      }
    }
    report_.passes.clear();
    Follow(std::move(taken));
    ESPALIER_RETURN_IF_ERROR(RunPass(Straight(subject_.end), true));
    if (report_.finding.has_value()) report_.not_tried.clear();  // it was no value
    return {};
  }

  // A difference that a smaller disturbance makes, too, is that one's.
  Result<void> Explain() {
    if (report_.finding->observed != Observed::kFailure) {
      if (report_.finding->after.deed == Deed::kEvaluate) {
        ESPALIER_ASSIGN(std::optional<Finding> simpler, performer_.Perform(BegunAgain(subject_.end), true));
        if (simpler.has_value()) report_.finding = std::move(simpler);
      }
      ESPALIER_ASSIGN(const std::optional<Finding> straight, performer_.Perform(Straight(subject_.end), false));
      report_.finding->is_repeatable = !straight.has_value() || straight->observed == Observed::kFailure;
    }
    report_.cause = UsualCause(*report_.finding, report_.course);
    return {};
  }

  Result<void> Reload() {
    const Pass pass = Reloaded(subject_.end);
    say_(pass.name);
    ESPALIER_ASSIGN(const std::optional<Finding> finding, performer_.Perform(pass, false));
    if (!finding.has_value()) return {};
    if (report_.declares_reload) {
      report_.finding = finding;
      report_.passes.push_back({pass.name, false});
      report_.cause = UsualCause(*finding, report_.course);
    }
    report_.reload = finding->observed == Observed::kFailure
                         ? finding->message
                         : Print(finding->observed, finding->step) + ": " + Print(finding->differences.front());
    return {};
  }

  Performer performer_;
  const Subject& subject_;
  const std::function<void(const std::string&)>& say_;
  Report report_;
};

}  // namespace

std::string Explained(const Report& report) {
  const Finding& finding = report.finding.value();
  std::string text = Print(finding.observed, finding.step) + ", " + Print(finding.after) + ":\n";
  if (finding.observed == Observed::kFailure) {
    text += finding.message + '\n';
  } else {
    const std::size_t count = finding.differences.size();
    text += "  " + Print(finding.differences.front()) + '\n';
    if (count > 1) {
      text += "  and " + std::to_string(count - 1) + " more, from " + finding.differences[1].name + " on\n";
    }
  }
  for (const std::string& line : report.said) text += "said by the worker: " + line + '\n';
  if (!report.cause.empty()) text += "usual cause: " + report.cause + '\n';
  return text;
}

std::optional<CheckFinding> Conclude(const Report& report) {
  if (!report.finding.has_value()) return CheckFinding{CheckOutcome::kPassed};
  const Finding& finding = *report.finding;
  if (finding.observed != Observed::kFailure) return CheckFinding{CheckOutcome::kFailed, Explained(report)};
  if (!finding.is_fault_of_trainer) return std::nullopt;
  const bool is_straight = finding.pass == Straight(report.course.End()).name;
  return CheckFinding{is_straight ? CheckOutcome::kGivenUp : CheckOutcome::kFailed,
                      (is_straight ? "its training fails, however it is done: " : "") + Explained(report)};
}

Result<Report> Check(Workers& workers, const std::filesystem::path& folder, const Subject& subject,
                     const std::function<void(const std::string&)>& say) {
  Checker checker(workers, folder, subject, say);
  ESPALIER_RETURN_IF_ERROR(checker.Run());
  Report report = std::move(checker).Finish();
  report.processes = workers.started();
  report.said = workers.Said();
  return report;
}

}  // namespace espalier::trainer_check
