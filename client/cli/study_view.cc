#include "client/cli/study_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

#include "client/cli/output.h"

namespace espalier {
namespace {

// True if `a` is better; what is not a number comes after all numbers, and no metric last.
bool BetterTrial(const v1::Trial& a, const v1::Trial& b, v1::Goal goal) {
  if (a.has_metric() != b.has_metric()) return a.has_metric();
  if (!a.has_metric()) return false;
  if (std::isnan(a.metric()) || std::isnan(b.metric())) return !std::isnan(a.metric()) && std::isnan(b.metric());
  return goal == v1::GOAL_MAXIMIZE ? a.metric() > b.metric() : a.metric() < b.metric();
}

std::string ShortDigest(const std::string& digest) {
  constexpr std::size_t kShown = 12;
  return digest.substr(0, kShown);
}

}  // namespace

std::string TrialStates(const TrialCounts& by_state) {
  std::string text;
  for (const auto& [state, count] : std::map<std::string, std::int64_t>(by_state.begin(), by_state.end())) {
    if (count > 0) text += (text.empty() ? "" : ", ") + FormatCount(count) + " " + state;
  }
  return text.empty() ? "none" : text;
}

std::string OriginText(const v1::Trial& trial) {
  if (!trial.has_origin()) return "-";
  const v1::TrialOrigin& origin = trial.origin();
  return "study " + std::to_string(origin.study_id()) + " (code " + ShortDigest(origin.code_digest()) + ") at step " +
         FormatCount(origin.step());
}

void PrintStudy(std::ostream& out, const v1::StudySummary& study) {
  const v1::StepCounts& steps = study.steps();
  out << study.name() << " (study " << study.study_id() << ") "
      << (study.cancelled() ? "was cancelled" : "is " + study.state()) << " after "
      << FormatDuration(study.elapsed_seconds()) << '\n';
  if (!study.stopped().empty()) out << "  stopped       " << study.stopped() << '\n';
  if (!study.held_back().empty()) out << "  held back     " << study.held_back() << '\n';
  if (study.has_reuse()) {
    const v1::ReusedStudy& reuse = study.reuse();
    out << "  reuses        study " << reuse.study_id() << " (code " << ShortDigest(reuse.code_digest()) << ")";
    if (reuse.until_step() > 0) out << " up to step " << FormatCount(reuse.until_step());
    out << ": its code up to where trials begin, this study's from there on\n";
  }
  out << "  trials        " << FormatCount(TrialCount(study.trials_by_state())) << ": "
      << TrialStates(study.trials_by_state()) << '\n';
  out << "  steps         " << FormatCount(steps.claimed()) << " claimed, " << FormatCount(steps.unique())
      << " unique, " << FormatCount(steps.trained()) << " trained, " << FormatCount(steps.re_derived())
      << " re-derived, " << FormatCount(steps.wasted()) << " wasted, " << FormatCount(steps.reused()) << " reused\n";
  out << "  merge rate    " << FormatNumber(study.merge_rate()) << " in steps, "
      << FormatNumber(study.time_weighted_merge_rate()) << " in time\n";
  out << "  slot-seconds  " << FormatNumber(study.slot_seconds()) << ", " << FormatNumber(study.shared_seconds())
      << " of them shared with other studies; sharing saved " << FormatNumber(study.saved_seconds());
  if (study.makespan_bound_seconds() > 0) {
    out << "; no schedule could have ended before " << FormatDuration(study.makespan_bound_seconds());
  }
  out << '\n';
  if (study.has_check()) {
    const std::string& text = study.check().text();
    out << "  check         " << study.check().state() << (text.empty() ? "" : ": " + text) << '\n';
  }
  if (study.has_best()) {
    out << "  best          " << FormatNumber(study.best().value()) << ' ' << study.best().metric() << ", trial "
        << study.best().trial_id() << " at step " << study.best().step() << '\n';
  }
}

std::string LabelText(const v1::Trial& trial) {
  return trial.has_label() ? trial.label().policy() + ": " + trial.label().text() : "-";
}

std::string SequenceText(const v1::Trial& trial, const std::string& name) {
  const auto text = trial.sequences().find(name);
  return text == trial.sequences().end() ? "-" : text->second;
}

std::vector<std::string> TunedNames(const std::vector<v1::Trial>& trials) {
  std::set<std::string> names;
  for (const v1::Trial& trial : trials) {
    for (const auto& [name, text] : trial.sequences()) names.insert(name);
  }
  std::vector<std::string> tuned;
  for (const std::string& name : names) {
    const bool differs = std::any_of(trials.begin(), trials.end(), [&](const v1::Trial& trial) {
      return SequenceText(trial, name) != SequenceText(trials.front(), name);
    });
    if (differs) tuned.push_back(name);
  }
  return tuned;
}

void PrintBestTrials(std::ostream& out, const v1::StudySummary& study, const std::vector<v1::Trial>& trials,
                     std::size_t count_max) {
  std::vector<v1::Trial> ranked = trials;
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const v1::Trial& a, const v1::Trial& b) { return BetterTrial(a, b, study.goal()); });
  if (ranked.size() > count_max) ranked.resize(count_max);
  std::vector<std::string> header = {"trial", study.has_best() ? study.best().metric() : "metric", "steps", "state"};
  const std::vector<std::string> tuned = TunedNames(trials);
  header.insert(header.end(), tuned.begin(), tuned.end());
  Table table(std::move(header));
  for (const v1::Trial& trial : ranked) {
    std::vector<std::string> row = {std::to_string(trial.trial_id()),
                                    trial.has_metric() ? FormatNumber(trial.metric()) : "-", FormatCount(trial.steps()),
                                    trial.state()};
    for (const std::string& name : tuned) row.push_back(SequenceText(trial, name));
    table.AddRow(std::move(row));
  }
  table.Print(out);
}

}  // namespace espalier
