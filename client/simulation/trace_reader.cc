#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "base/text_file.h"
#include "client/simulation/trace.h"
#include "client/study_file/study_values.h"
#include "client/study_file/yaml_tree.h"

namespace espalier {
namespace {

Result<const YamlNode*> Member(const YamlNode& line, const std::string& key) {
  const YamlNode* found = line.Find(key);
  if (found == nullptr) return Wrong(key, "missing");
  return found;
}

bool IsNull(const YamlNode& node) { return node.kind == YamlNode::Kind::kNull; }

Result<std::int64_t> Whole(const YamlNode& line, const std::string& key, std::int64_t least = 0) {
  ESPALIER_ASSIGN(const YamlNode* node, Member(line, key));
  return WholeNumber(*node, key, least);
}

Result<int> Count(const YamlNode& line, const std::string& key, int least) {
  ESPALIER_ASSIGN(const std::int64_t count, Whole(line, key, least));
  if (count <= std::numeric_limits<int>::max()) return static_cast<int>(count);
  return Wrong(key, "got " + std::to_string(count) + ", which is too many");
}

Result<Seconds> TimeIn(const YamlNode& node, const std::string& key) {
  ESPALIER_ASSIGN(const double seconds, ToNumber(node, key));
  if (seconds < 0) return Wrong(key, "got " + Describe(node) + "; expected seconds, 0 or more");
  return Seconds(seconds);
}

Result<Seconds> TimeAt(const YamlNode& line, const std::string& key) {
  ESPALIER_ASSIGN(const YamlNode* node, Member(line, key));
  return TimeIn(*node, key);
}

Result<std::optional<Seconds>> OptionalTimeAt(const YamlNode& line, const std::string& key) {
  ESPALIER_ASSIGN(const YamlNode* node, Member(line, key));
  if (IsNull(*node)) return std::optional<Seconds>();
  ESPALIER_ASSIGN(const Seconds time, TimeIn(*node, key));
  return std::optional(time);
}

Result<bool> FlagAt(const YamlNode& line, const std::string& key) {
  ESPALIER_ASSIGN(const YamlNode* node, Member(line, key));
  if (node->text == "true" || node->text == "false") return node->text == "true";
  return Wrong(key, "got " + Describe(*node) + "; expected true or false");
}

// A text, which may be empty.
Result<std::string> TextAt(const YamlNode& line, const std::string& key) {
  ESPALIER_ASSIGN(const YamlNode* node, Member(line, key));
  if (node->kind != YamlNode::Kind::kScalar) return Wrong(key, "got " + Describe(*node) + "; expected a text");
  return node->text;
}

template <class T>
Result<T> NamedAt(const YamlNode& line, const std::string& key, Result<T> (*parse)(std::string_view)) {
  ESPALIER_ASSIGN(const std::string text, TextAt(line, key));
  Result<T> parsed = parse(text);
  if (!parsed.has_value()) return Wrong(key, parsed.error().message);
  return parsed;
}

Result<std::vector<const YamlNode*>> ListAt(const YamlNode& line, const std::string& key) {
  ESPALIER_ASSIGN(const YamlNode* node, Member(line, key));
  if (node->kind != YamlNode::Kind::kList) return Wrong(key, "got " + Describe(*node) + "; expected a list");
  std::vector<const YamlNode*> items;
  for (const YamlNode& item : node->items) items.push_back(&item);
  return items;
}

Result<TracedStretch> ToStretch(const YamlNode& node, const std::string& key) {
  ESPALIER_RETURN_IF_ERROR(ExpectMapping(node, key, {"node", "step"}));
  TracedStretch stretch;
  ESPALIER_ASSIGN(stretch.node, Whole(node, "node", 1));
  ESPALIER_ASSIGN(stretch.until.value, Whole(node, "step"));
  return stretch;
}

Result<TracedStretch> StretchAt(const YamlNode& line, const std::string& key) {
  ESPALIER_ASSIGN(const YamlNode* node, Member(line, key));
  return ToStretch(*node, key);
}

Result<std::vector<TracedStretch>> LineageAt(const YamlNode& line) {
  ESPALIER_ASSIGN(const auto items, ListAt(line, "lineage"));
  std::vector<TracedStretch> lineage;
  for (const YamlNode* item : items) {
    ESPALIER_ASSIGN(const TracedStretch stretch, ToStretch(*item, "lineage"));
    if (stretch.until <= (lineage.empty() ? Step{0} : lineage.back().until)) {
      return Wrong("lineage", "its steps do not grow");
    }
    lineage.push_back(stretch);
  }
  if (lineage.empty()) return Wrong("lineage", "it is empty; expected a node at least");
  return lineage;
}

Result<std::vector<TracedClaim>> ClaimsAt(const YamlNode& line) {
  ESPALIER_ASSIGN(const auto items, ListAt(line, "claims"));
  std::vector<TracedClaim> claims;
  for (const YamlNode* item : items) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(*item, "claims", {"step", "made", "settled", "state"}));
    TracedClaim& claim = claims.emplace_back();
    ESPALIER_ASSIGN(claim.step.value, Whole(*item, "step", 1));
    ESPALIER_ASSIGN(claim.made, TimeAt(*item, "made"));
    ESPALIER_ASSIGN(claim.settled, OptionalTimeAt(*item, "settled"));
    ESPALIER_ASSIGN(claim.state, NamedAt(*item, "state", ParseClaimState));
  }
  return claims;
}

Result<std::map<Step, Metrics>> MetricsAt(const YamlNode& line) {
  ESPALIER_ASSIGN(const auto items, ListAt(line, "metrics"));
  std::map<Step, Metrics> metrics;
  for (const YamlNode* item : items) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(*item, "metrics", {"step", "values"}));
    ESPALIER_ASSIGN(const std::int64_t step, Whole(*item, "step", 1));
    ESPALIER_ASSIGN(const YamlNode* values, Member(*item, "values"));
    Metrics& at = metrics[Step{step}];
    for (const YamlEntry& entry : values->entries) {
      at[entry.key] = std::numeric_limits<double>::quiet_NaN();
      if (IsNull(entry.value)) continue;
      ESPALIER_ASSIGN(at[entry.key], ToNumber(entry.value, "metrics." + entry.key));
    }
  }
  return metrics;
}

class TraceReader {
 public:
  // One line more.
  Result<void> Read(const YamlNode& line) {
    if (line.kind != YamlNode::Kind::kMapping || line.entries.empty()) return Wrong("", "expected an object in JSON");
    const std::string& kind = line.entries.front().key;
    if (trace_.head.began.empty() != (kind == "trace")) {
      return Wrong(kind, "the first line, and it alone, has to be the head: {\"trace\": 1, ...}");
    }
    if (kind == "trace") return ReadHead(line);
    if (kind == "server") return ReadServer(line);
    if (kind == "study") return ReadStudy(line);
    if (kind == "node") return ReadNode(line);
    if (kind == "trial") return ReadTrial(line);
    if (kind == "run") return ReadRun(line);
    return Wrong(kind,
                 "no line begins with this" + DidYouMean(kind, {"trace", "server", "study", "node", "trial", "run"}));
  }

  Result<Trace> Take() {
    if (trace_.head.began.empty())
      return Wrong("", "it is empty; expected what `espalier study export --trace` writes");
    if (trace_.servers.empty()) return Wrong("", "no line is of a server");
    if (trace_.studies.empty()) return Wrong("", "no line is of a study");
    for (const TracedStudy& study : trace_.studies) {
      std::set<std::int64_t> known;
      for (const TracedNode& node : study.nodes) known.insert(node.id);
      for (const TracedTrial& trial : study.trials) {
        for (const TracedStretch& stretch : trial.lineage) {
          if (known.contains(stretch.node)) continue;
          return Wrong("lineage", "trial " + std::to_string(trial.id) + " passes node " + std::to_string(stretch.node) +
                                      ", which has no line; is the file whole?");
        }
      }
    }
    return std::move(trace_);
  }

 private:
  Result<void> ReadHead(const YamlNode& line) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(line, "", {"trace", "began", "policy"}));
    ESPALIER_ASSIGN(const std::int64_t version, Whole(line, "trace"));
    if (version != kTraceVersion) {
      return Wrong("trace",
                   "got version " + std::to_string(version) + "; this program reads " + std::to_string(kTraceVersion));
    }
    ESPALIER_ASSIGN(trace_.head.began, Text(line, "began", "a time"));
    ESPALIER_ASSIGN(trace_.head.policy, TextAt(line, "policy"));
    return {};
  }

  Result<void> ReadServer(const YamlNode& line) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(line, "", {"server", "slots", "gone"}));
    TracedServer& server = trace_.servers.emplace_back();
    ESPALIER_ASSIGN(server.name, Text(line, "server", "a name"));
    ESPALIER_ASSIGN(server.slots, Count(line, "slots", 1));
    ESPALIER_ASSIGN(server.gone, OptionalTimeAt(line, "gone"));
    return {};
  }

  Result<void> ReadStudy(const YamlNode& line) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(line, "",
                                           {"study", "name", "definition", "has_tuner", "trainer", "metric", "goal",
                                            "share", "arrived", "ended", "cancelled", "device_seconds", "steps"}));
    TracedStudy& study = trace_.studies.emplace_back();
    ESPALIER_ASSIGN(study.id, Whole(line, "study", 1));
    ESPALIER_ASSIGN(study.name, Text(line, "name", "a name"));
    ESPALIER_ASSIGN(study.definition, TextAt(line, "definition"));
    ESPALIER_ASSIGN(study.has_tuner, FlagAt(line, "has_tuner"));
    ESPALIER_ASSIGN(study.trainer, Text(line, "trainer", "a name"));
    ESPALIER_ASSIGN(study.metric, TextAt(line, "metric"));
    ESPALIER_ASSIGN(study.goal, NamedAt(line, "goal", ParseGoal));
    ESPALIER_ASSIGN(study.scope, NamedAt(line, "share", ParseScope));
    ESPALIER_ASSIGN(study.arrived, TimeAt(line, "arrived"));
    ESPALIER_ASSIGN(study.ended, TimeAt(line, "ended"));
    if (study.ended < study.arrived) return Wrong("ended", "it is before the study arrived");
    ESPALIER_ASSIGN(study.cancelled, FlagAt(line, "cancelled"));
    ESPALIER_ASSIGN(study.device_time, TimeAt(line, "device_seconds"));
    ESPALIER_ASSIGN(const YamlNode* steps, Member(line, "steps"));
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(*steps, "steps", {"claimed", "unique", "trained", "reused"}));
    ESPALIER_ASSIGN(study.claimed_steps, Whole(*steps, "claimed"));
    ESPALIER_ASSIGN(study.unique_steps, Whole(*steps, "unique"));
    ESPALIER_ASSIGN(study.trained_steps, Whole(*steps, "trained"));
    ESPALIER_ASSIGN(study.reused_steps, Whole(*steps, "reused"));
    return {};
  }

  Result<TracedStudy*> StudyOf(const YamlNode& line) {
    ESPALIER_ASSIGN(const std::int64_t id, Whole(line, "study", 1));
    const auto found = std::ranges::find(trace_.studies, id, &TracedStudy::id);
    if (found == trace_.studies.end()) return Wrong("study", "no line above is of study " + std::to_string(id));
    return &*found;
  }

  Result<void> ReadNode(const YamlNode& line) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(line, "", {"node", "study", "trained", "seconds"}));
    ESPALIER_ASSIGN(TracedStudy * study, StudyOf(line));
    TracedNode& node = study->nodes.emplace_back();
    ESPALIER_ASSIGN(node.id, Whole(line, "node", 1));
    ESPALIER_ASSIGN(node.trained, FlagAt(line, "trained"));
    ESPALIER_ASSIGN(const YamlNode* costs, Member(line, "seconds"));
    for (const YamlEntry& entry : costs->entries) {
      const Result<CostKind> kind = ParseCostKind(entry.key);
      if (!kind.has_value() || !IsTime(*kind)) return Wrong("seconds." + entry.key, "nothing of this name takes time");
      ESPALIER_ASSIGN(node.costs[*kind], TimeIn(entry.value, "seconds." + entry.key));
    }
    return {};
  }

  Result<void> ReadTrial(const YamlNode& line) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(line, "",
                                           {"trial", "study", "sequences", "horizon", "submitted", "closed",
                                            "cancelled", "lineage", "claims", "metrics"}));
    ESPALIER_ASSIGN(TracedStudy * study, StudyOf(line));
    TracedTrial& trial = study->trials.emplace_back();
    ESPALIER_ASSIGN(trial.id, Whole(line, "trial", 1));
    ESPALIER_ASSIGN(const YamlNode* sequences, Member(line, "sequences"));
    for (const YamlEntry& entry : sequences->entries) {
      ESPALIER_ASSIGN(trial.sequences[entry.key], Text(*sequences, entry.key, "a sequence"));
    }
    ESPALIER_ASSIGN(trial.horizon.value, Whole(line, "horizon", 1));
    ESPALIER_ASSIGN(trial.submitted, TimeAt(line, "submitted"));
    ESPALIER_ASSIGN(trial.closed, OptionalTimeAt(line, "closed"));
    ESPALIER_ASSIGN(trial.cancelled, FlagAt(line, "cancelled"));
    ESPALIER_ASSIGN(trial.lineage, LineageAt(line));
    if (trial.lineage.back().until != trial.horizon) return Wrong("lineage", "it does not end at the horizon");
    ESPALIER_ASSIGN(trial.claims, ClaimsAt(line));
    ESPALIER_ASSIGN(trial.metrics, MetricsAt(line));
    return {};
  }

  Result<void> ReadRun(const YamlNode& line) {
    ESPALIER_RETURN_IF_ERROR(ExpectMapping(
        line, "",
        {"run", "study", "server", "slot", "slots", "from", "to", "held_from", "held_until", "device_seconds"}));
    ESPALIER_ASSIGN(TracedStudy * study, StudyOf(line));
    TracedRun& run = study->runs.emplace_back();
    ESPALIER_ASSIGN(run.id, Whole(line, "run", 1));
    ESPALIER_ASSIGN(run.server, Text(line, "server", "a name"));
    ESPALIER_ASSIGN(run.slot, Count(line, "slot", 0));
    ESPALIER_ASSIGN(run.slots, Count(line, "slots", 1));
    ESPALIER_ASSIGN(run.from, StretchAt(line, "from"));
    ESPALIER_ASSIGN(run.to, StretchAt(line, "to"));
    ESPALIER_ASSIGN(run.held_from, TimeAt(line, "held_from"));
    ESPALIER_ASSIGN(run.held_until, TimeAt(line, "held_until"));
    ESPALIER_ASSIGN(run.charged, TimeAt(line, "device_seconds"));
    return {};
  }

  Trace trace_;
};

tl::unexpected<FileError> AtTraceLine(const std::string& path, int line, const Error& error) {
  return tl::unexpected(FileError{path, line, error.field, error.message});
}

}  // namespace

tl::expected<Trace, FileError> ParseTrace(const std::string& path, const std::string& text) {
  TraceReader reader;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const tl::expected<YamlNode, YamlError> parsed = ParseYaml(line);
    if (!parsed.has_value()) {
      return tl::unexpected(FileError{path, number, "", "no JSON: " + parsed.error().message});
    }
    if (const Result<void> read = reader.Read(*parsed); !read.has_value())
      return AtTraceLine(path, number, read.error());
  }
  Result<Trace> trace = reader.Take();
  if (!trace.has_value()) return AtTraceLine(path, std::max(1, number), trace.error());
  return *std::move(trace);
}

tl::expected<Trace, FileError> ReadTraceFile(const std::string& path) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text.has_value()) return AtTraceLine(path, 1, text.error());
  return ParseTrace(path, *text);
}

}  // namespace espalier
