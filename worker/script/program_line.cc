#include "worker/script/program_line.h"

#include <array>
#include <nlohmann/json.hpp>

#include "worker/protocol/json_fields.h"

namespace espalier::script {
namespace {

using worker::Json;

constexpr char kStep[] = "step";
constexpr char kEvaluation[] = "evaluate";
constexpr char kSaved[] = "saved";

// With quotes around the words that JSON does not have for numbers, outside of its texts.
std::string WithQuotedNumbers(std::string_view line) {
  constexpr std::array<std::string_view, 3> kWords{"-Infinity", "Infinity", "NaN"};
  std::string quoted;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_text && line[i] == '\\' && i + 1 < line.size()) {
      quoted += line[i++];
    } else if (line[i] == '"') {
      in_text = !in_text;
    }
    const auto word = std::ranges::find_if(
        kWords, [&](std::string_view each) { return !in_text && line.substr(i).starts_with(each); });
    if (word == kWords.end()) {
      quoted += line[i];
      continue;
    }
    quoted.append("\"").append(*word).append("\"");
    i += word->size() - 1;
  }
  return quoted;
}

bool IsNumber(const Json& json) {
  return json.is_number() || json == "NaN" || json == "Infinity" || json == "-Infinity";
}

}  // namespace

Result<std::optional<ProgramLine>> ReadProgramLine(std::string_view line) {
  const Result<Json> json = worker::ParseObject(WithQuotedNumbers(line));
  if (!json.has_value() || !json->contains(kStep)) return std::nullopt;
  ProgramLine read;
  ESPALIER_ASSIGN(read.step.value, worker::ReadInteger(*json, kStep));
  if (json->contains(kEvaluation)) {
    ESPALIER_ASSIGN(read.evaluation, worker::ReadMetrics(*json, kEvaluation));
  }
  ESPALIER_ASSIGN(read.is_saved, worker::ReadBoolean(*json, kSaved));
  Json numbers = Json::object();
  for (const auto& [name, value] : json->items()) {
    if (name != kStep && IsNumber(value)) numbers[name] = value;
  }
  ESPALIER_ASSIGN(read.metrics, worker::ReadMetrics({{"metrics", std::move(numbers)}}, "metrics"));
  return read;
}

}  // namespace espalier::script
