#include "client/cli/trainer_check_report.h"

#include <ostream>

#include "client/cli/json_output.h"
#include "client/cli/output.h"

namespace espalier {
namespace {

using trainer_check::Change;
using trainer_check::Difference;
using trainer_check::Finding;
using trainer_check::NotTried;
using trainer_check::Observed;
using trainer_check::PassResult;
using trainer_check::Report;
using trainer_check::Subject;

std::string StepText(StepMeaning step) {
  if (step.updates == 0) return "an epoch";
  return std::to_string(step.updates) + (step.updates == 1 ? " update" : " updates");
}

std::string LastLine(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n') + 1;
  const std::size_t begin = text.find_last_of('\n', end - 1) + 1;
  return text.substr(begin, end - begin);
}

Json DifferenceJson(const Difference& difference) {
  return Json::Object({{"name", difference.name},
                       {"place", difference.place},
                       {"expected", difference.expected},
                       {"found", difference.found},
                       {"elements", difference.size},
                       {"differing", difference.differing},
                       {"by", difference.by.has_value() ? Json(*difference.by) : Json(nullptr)}});
}

std::string_view Name(Observed observed) {
  switch (observed) {
    case Observed::kTraining:
      return "training";
    case Observed::kEvaluation:
      return "evaluation";
    case Observed::kState:
      return "state";
    case Observed::kFailure:
      return "failure";
  }
  return "";
}

Json FindingJson(const Finding& finding, const std::string& cause) {
  Json differences = Json::Array();
  for (const Difference& each : finding.differences) differences.Append(DifferenceJson(each));
  return Json::Object({{"observed", Name(finding.observed)},
                       {"step", finding.step.value},
                       {"after", Print(finding.after)},
                       {"pass", finding.pass},
                       {"differences", std::move(differences)},
                       {"message", finding.message},
                       {"repeatable", finding.is_repeatable},
                       {"cause", cause}});
}

Json ChangeJson(const Change& change) {
  return Json::Object(
      {{"name", change.name}, {"at", change.at.value}, {"from", ToJson(change.from)}, {"to", ToJson(change.to)}});
}

}  // namespace

void PrintCheck(std::ostream& out, const Subject& subject, const Report& report) {
  out << subject.offer.trainer << (subject.offer.data.empty() ? "" : " on " + subject.offer.data) << ": "
      << subject.end.value << " steps of " << StepText(subject.step) << '\n';
  out << "  at step 0 ";
  for (const auto& [name, value] : report.course.values.front()) out << ' ' << name << '=' << Print(value);
  out << '\n';
  for (const Change& change : report.changes) {
    out << "  at step " << change.at.value << "  " << change.name << ' ' << Print(change.from) << " -> "
        << Print(change.to) << '\n';
  }
  for (const NotTried& each : report.not_tried) {
    out << "  not tried  " << each.change.name << ' ' << Print(each.change.to) << ": " << LastLine(each.reason) << '\n';
  }
  for (const PassResult& pass : report.passes) out << (pass.is_same ? "  same   " : "  OTHER  ") << pass.name << '\n';
  if (report.finding.has_value()) {
    out << "\nFAILED: " << Explained(report);
  } else {
    out << "  reload "
        << (report.reload.has_value() ? "no: " + LastLine(*report.reload)
            : report.declares_reload  ? "yes, as declared"
                                      : "yes: declare it, and trainings go on sooner in a process that has trained")
        << '\n';
    out << "passed";
  }
  if (report.finding.has_value()) out << "failed";
  out << " in " << FormatDuration(report.time.count()) << ": " << report.steps << " steps, " << report.states
      << " states and " << report.evaluations << " evaluations, in " << report.processes << " processes\n";
}

Json CheckJson(const Subject& subject, const Report& report) {
  Json changes = Json::Array();
  for (const Change& change : report.changes) changes.Append(ChangeJson(change));
  Json not_tried = Json::Array();
  for (const NotTried& each : report.not_tried) {
    not_tried.Append(Json::Object({{"change", ChangeJson(each.change)}, {"reason", each.reason}}));
  }
  Json passes = Json::Array();
  for (const PassResult& pass : report.passes) {
    passes.Append(Json::Object({{"name", pass.name}, {"same", pass.is_same}}));
  }
  Json values = Json::Object();
  for (const auto& [name, value] : report.course.values.front()) values.Add(name, ToJson(value));
  return Json::Object(
      {{"passed", !report.finding.has_value()},
       {"trainer", subject.offer.trainer},
       {"data", subject.offer.data},
       {"code_digest", subject.offer.code_digest},
       {"step", subject.step.updates == 0 ? Json("epoch") : Json(subject.step.updates)},
       {"steps", subject.end.value},
       {"values", std::move(values)},
       {"changes", std::move(changes)},
       {"not_tried", std::move(not_tried)},
       {"passes", std::move(passes)},
       {"finding", report.finding.has_value() ? FindingJson(*report.finding, report.cause) : Json(nullptr)},
       {"reload", Json::Object({{"declared", report.declares_reload},
                                {"holds", !report.finding.has_value() && !report.reload.has_value()},
                                {"reason", report.reload.value_or("")}})},
       {"said", Json::ArrayOf(report.said)},
       {"trained_steps", report.steps},
       {"saved_states", report.states},
       {"evaluations", report.evaluations},
       {"processes", report.processes},
       {"seconds", report.time.count()}});
}

}  // namespace espalier
