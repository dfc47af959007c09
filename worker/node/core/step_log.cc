#include "worker/node/core/step_log.h"

#include <charconv>
#include <optional>

namespace espalier::node {
namespace {

struct Line {
  RunId run;
  Step step;
  Seconds time;
};

template <class T>
bool TakeNumber(std::string_view& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

std::optional<Line> ParseLine(std::string_view text) {
  Line line;
  double seconds = 0;
  if (!TakeNumber(text, line.run.value) || !TakeNumber(text, line.step.value) || !TakeNumber(text, seconds)) return {};
  line.time = Seconds(seconds);
  return text.empty() ? std::optional(line) : std::nullopt;
}

const PathStage* StageOf(const std::vector<PathStage>& path, Step step) {
  for (const PathStage& stage : path) {
    if (stage.from < step && step <= stage.to) return &stage;
  }
  return nullptr;
}

void Count(const Line& line, PlanNodeId node, std::vector<StepsTrained>& trained) {
  const bool continues = !trained.empty() && trained.back().node == node && trained.back().to + 1 == line.step;
  if (!continues) trained.push_back({node, line.step - 1, line.step - 1, Seconds(0)});
  trained.back().to = line.step;
  trained.back().time += line.time;
}

}  // namespace

StepLogSummary SummarizeStepLog(std::string_view text, RunId run, const std::vector<PathStage>& path) {
  StepLogSummary summary;
  for (;;) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return summary;
    const std::optional<Line> line = ParseLine(text.substr(0, end));
    summary.bytes_read += static_cast<std::int64_t>(end) + 1;
    text.remove_prefix(end + 1);
    if (!line.has_value() || line->run != run) continue;
    if (const PathStage* stage = StageOf(path, line->step)) Count(*line, stage->node, summary.trained);
  }
}

}  // namespace espalier::node
