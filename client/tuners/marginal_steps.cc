#include "client/tuners/marginal_steps.h"

#include <algorithm>
#include <optional>
#include <set>

#include "searchplan/sequence/configuration.h"
#include "searchplan/sequence/expression.h"

namespace espalier::tuners {
namespace {

// Whole numbers are compiled as numbers with a fraction, which are equal exactly where these are.
std::optional<Sequence> Compiled(const std::string& text, Step horizon) {
  const Result<Expression> expression = ParseExpression(text);
  if (!expression.has_value()) return std::nullopt;
  for (const ValueType type : {ValueType::kFloating, ValueType::kText, ValueType::kBoolean}) {
    if (Result<Sequence> sequence = Compile(*expression, type, horizon); sequence.has_value()) return *sequence;
  }
  return std::nullopt;
}

// The trial's joint segments, each with the names of its hyper-parameters. Empty: it could not be compiled.
std::vector<std::pair<Step, std::string>> WayOf(const StartTrial& trial) {
  std::vector<Sequence> sequences;
  std::string names;
  for (const auto& [name, text] : trial.sequences) {
    std::optional<Sequence> sequence = Compiled(text, trial.horizon);
    if (!sequence) return {};
    sequences.push_back(std::move(*sequence));
    names += name + '\n';
  }
  const Result<std::vector<JointSegment>> segments = JointSegments(sequences, trial.horizon);
  std::vector<std::pair<Step, std::string>> way;
  if (!segments.has_value()) return way;
  for (const JointSegment& segment : *segments) {
    way.emplace_back(segment.start, names + CanonicalBytes(segment.configuration));
  }
  return way;
}

}  // namespace

MarginalSteps::MarginalSteps(const std::vector<StartTrial>& trials) : nodes_(1), ways_(trials.size()) {
  for (std::size_t trial = 0; trial < trials.size(); ++trial) {
    std::vector<Edge> way = WayOf(trials[trial]);
    if (way.empty()) way.emplace_back(Step{0}, "trial " + std::to_string(trial));
    Enter(trial, std::move(way));
  }
}

void MarginalSteps::Enter(std::size_t trial, std::vector<Edge> way) {
  std::size_t above = 0;
  for (Edge& edge : way) {
    const Step start = edge.first;
    const auto [at, is_new] = nodes_[above].children.try_emplace(std::move(edge), nodes_.size());
    above = at->second;
    if (is_new) nodes_.push_back({.start = start});
    nodes_[above].passing.push_back(trial);
    ways_[trial].push_back(above);
  }
}

Step MarginalSteps::EndOf(const std::vector<std::size_t>& way, std::size_t i, Step steps) const {
  return i + 1 < way.size() ? std::min(steps, nodes_[way[i + 1]].start) : steps;
}

std::int64_t MarginalSteps::Of(std::size_t trial, Step steps) const {
  const std::vector<std::size_t>& way = ways_[trial];
  Step covered{0};
  for (std::size_t i = 0; i < way.size() && nodes_[way[i]].start < steps; ++i) {
    covered = std::max(covered, std::min(nodes_[way[i]].asked, EndOf(way, i, steps)));
  }
  return steps - covered;
}

std::vector<std::size_t> MarginalSteps::Ask(std::size_t trial, Step steps) {
  const std::vector<std::size_t>& way = ways_[trial];
  std::set<std::size_t> touched;
  for (std::size_t i = 0; i < way.size() && nodes_[way[i]].start < steps; ++i) {
    Node& node = nodes_[way[i]];
    const Step end = EndOf(way, i, steps);
    if (node.asked >= end) continue;
    node.asked = end;
    touched.insert(node.passing.begin(), node.passing.end());
  }
  return {touched.begin(), touched.end()};
}

}  // namespace espalier::tuners
