#include "client/cli/metric_curves.h"

#include <array>
#include <charconv>

#include "client/cli/json_output.h"

namespace espalier {
namespace {

const std::set<std::string> kFixedColumns = {"trial", "state", "step"};

std::string Cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string Shortest(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

void CurveColumns::Add(const v1::GetTrialResponse& trial) {
  origins |= trial.trial().has_origin();
  for (const auto& [name, text] : trial.trial().sequences()) hyper_parameters.insert(name);
  for (const v1::TrialEvaluation& each : trial.metrics()) {
    for (const auto& [name, value] : each.metrics()) metrics.insert(name);
  }
}

std::string CsvHeader(const CurveColumns& columns) {
  std::string line = "trial,state,step";
  for (const std::string& name : columns.metrics) {
    const bool is_taken = kFixedColumns.contains(name) || columns.hyper_parameters.contains(name);
    line += "," + Cell((is_taken ? "metric:" : "") + name);
  }
  for (const std::string& name : columns.hyper_parameters) line += "," + Cell(name);
  if (columns.origins) line += ",origin:study,origin:code,origin:step";
  return line + "\n";
}

Result<std::string> CsvRows(const CurveColumns& columns, const v1::GetTrialResponse& trial) {
  const v1::Trial& of = trial.trial();
  CurveColumns with = columns;
  with.Add(trial);
  if (with != columns) {
    return MakeError(ErrorCode::kAborted, "trial " + std::to_string(of.trial_id()) +
                                              " has new metrics by now; export again, or with --format jsonl");
  }
  std::string sequences;
  for (const std::string& name : columns.hyper_parameters) {
    const auto text = of.sequences().find(name);
    sequences += "," + (text == of.sequences().end() ? "" : Cell(text->second));
  }
  const v1::TrialOrigin& origin = of.origin();
  if (of.has_origin()) {
    sequences += "," + std::to_string(origin.study_id()) + "," + Cell(origin.code_digest()) + "," +
                 std::to_string(origin.step());
  } else if (columns.origins) {
    sequences += ",,,";
  }
  std::string lines;
  for (const v1::TrialEvaluation& each : trial.metrics()) {
    lines += std::to_string(of.trial_id()) + "," + of.state() + "," + std::to_string(each.step());
    for (const std::string& name : columns.metrics) {
      const auto value = each.metrics().find(name);
      lines += "," + (value == each.metrics().end() ? "" : Shortest(value->second));
    }
    lines += sequences + "\n";
  }
  return lines;
}

std::string JsonLines(const v1::GetTrialResponse& trial) {
  const v1::Trial& of = trial.trial();
  std::string lines;
  for (const v1::TrialEvaluation& each : trial.metrics()) {
    Json line = Json::Object({{"trial", of.trial_id()},
                              {"state", of.state()},
                              {"step", each.step()},
                              {"metrics", Json::Sorted(each.metrics())},
                              {"sequences", Json::Sorted(of.sequences())}});
    if (of.has_origin()) line.Add("origin", OriginInJson(of));
    lines += CompactJson(line) + "\n";
  }
  return lines;
}

}  // namespace espalier
