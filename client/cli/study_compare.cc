// espalier study compare A B
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_comparison.h"

namespace espalier {
namespace {

Json ComparisonJson(const v1::StudySummary& a, const v1::StudySummary& b, const StudyComparison& comparison) {
  Json differences = Json::Array();
  for (const MetricDifference& difference : comparison.differences) {
    differences.Append(Json::Object({{"trial_a", difference.trial_a},
                                     {"trial_b", difference.trial_b},
                                     {"step", difference.step},
                                     {"metric", difference.metric},
                                     {"a", difference.value_a},
                                     {"b", difference.value_b}}));
  }
  return Json::Object({{"a", ToJson(a)},
                       {"b", ToJson(b)},
                       {"trials_matched", comparison.trials_matched},
                       {"trials_only_in_a", comparison.trials_only_in_a},
                       {"trials_only_in_b", comparison.trials_only_in_b},
                       {"evaluations_compared", comparison.evaluations_compared},
                       {"states_compared", comparison.states_compared},
                       {"metrics_identical", comparison.metrics_identical},
                       {"states_identical", comparison.states_identical},
                       {"identical", comparison.metrics_identical && comparison.states_identical},
                       {"slot_seconds_ratio", comparison.slot_seconds_ratio},
                       {"share_of_merge_rate", comparison.share_of_merge_rate},
                       {"differences", std::move(differences)}});
}

void PrintSideBySide(std::ostream& out, const v1::StudySummary& a, const v1::StudySummary& b) {
  Table table({"", a.name() + " (study " + std::to_string(a.study_id()) + ")",
               b.name() + " (study " + std::to_string(b.study_id()) + ")"});
  const auto add = [&](const std::string& label, const auto& text) { table.AddRow({label, text(a), text(b)}); };
  using Study = v1::StudySummary;
  add("shared with", [](const Study& study) { return std::string(ScopeName(study.scope())); });
  add("trials", [](const Study& study) { return FormatCount(TrialCount(study.trials_by_state())); });
  add("steps claimed", [](const Study& study) { return FormatCount(study.steps().claimed()); });
  add("steps unique", [](const Study& study) { return FormatCount(study.steps().unique()); });
  add("steps trained", [](const Study& study) { return FormatCount(study.steps().trained()); });
  add("steps re-derived", [](const Study& study) { return FormatCount(study.steps().re_derived()); });
  add("steps wasted", [](const Study& study) { return FormatCount(study.steps().wasted()); });
  add("steps reused", [](const Study& study) { return FormatCount(study.steps().reused()); });
  add("slot-seconds", [](const Study& study) { return FormatNumber(study.slot_seconds()); });
  add("elapsed", [](const Study& study) { return FormatDuration(study.elapsed_seconds()); });
  add("merge rate, steps", [](const Study& study) { return FormatNumber(study.merge_rate()); });
  add("merge rate, time", [](const Study& study) { return FormatNumber(study.time_weighted_merge_rate()); });
  add("best metric", [](const Study& study) { return study.has_best() ? FormatNumber(study.best().value()) : "-"; });
  table.Print(out);
}

void PrintComparison(std::ostream& out, const StudyComparison& comparison) {
  out << '\n' << FormatCount(comparison.trials_matched) << " trials are in both";
  if (comparison.trials_only_in_a > 0) out << ", " << FormatCount(comparison.trials_only_in_a) << " in the first alone";
  if (comparison.trials_only_in_b > 0)
    out << ", " << FormatCount(comparison.trials_only_in_b) << " in the second alone";
  out << '\n';
  const auto verdict = [](std::int64_t compared, bool identical) {
    return compared == 0 ? "nothing to compare" : identical ? "identical, bit for bit" : "DIFFERENT";
  };
  out << "metrics at " << FormatCount(comparison.evaluations_compared)
      << " common points: " << verdict(comparison.evaluations_compared, comparison.metrics_identical) << '\n';
  out << "final states of " << FormatCount(comparison.states_compared)
      << " trials: " << verdict(comparison.states_compared, comparison.states_identical) << '\n';
  for (const MetricDifference& difference : comparison.differences) {
    out << "  trials " << difference.trial_a << " and " << difference.trial_b << " at step " << difference.step << ": "
        << difference.metric << ' ' << difference.value_a << " against " << difference.value_b << '\n';
  }
  if (comparison.slot_seconds_ratio > 0) {
    out << "slot-seconds, less shared / more shared: " << FormatNumber(comparison.slot_seconds_ratio);
    if (comparison.share_of_merge_rate > 0) {
      out << ", which is " << FormatNumber(100 * comparison.share_of_merge_rate) << " % of the merge rate in time";
    }
    out << '\n';
  }
}

int Run(CommandContext& context, const std::vector<std::string>& ids_or_names) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  std::vector<v1::StudySummary> studies;
  std::vector<std::vector<v1::Trial>> trials;
  for (const std::string& id_or_name : ids_or_names) {
    Result<v1::StudySummary> study = FindStudy(client->connection(), id_or_name);
    if (!study.has_value()) return Fail(context, study.error());
    Result<std::vector<v1::Trial>> list =
        ListTrialsOf(client->connection(), {.study = std::to_string(study->study_id())});
    if (!list.has_value()) return Fail(context, list.error());
    studies.push_back(std::move(*study));
    trials.push_back(std::move(*list));
  }
  const StudyComparison comparison = Compare(studies[0], trials[0], studies[1], trials[1]);
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ComparisonJson(studies[0], studies[1], comparison));
    return kExitDone;
  }
  PrintSideBySide(context.out, studies[0], studies[1]);
  PrintComparison(context.out, comparison);
  return kExitDone;
}

}  // namespace

Command StudyCompareCommand(CommandContext& context) {
  const auto ids_or_names = std::make_shared<std::vector<std::string>>(2);
  Command command{
      .name = "compare",
      .help = "Two studies side by side, and whether the trials in both came out the same, bit for bit",
      .arguments = {{"A", &ids_or_names->at(0), "a study, by id or name"}, {"B", &ids_or_names->at(1), "another one"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, ids_or_names] { return Run(context, *ids_or_names); };
  return command;
}

}  // namespace espalier
