#include "client/simulation/simulation_files.h"

#include "base/text_file.h"
#include "client/study_file/study_values.h"
#include "client/study_file/yaml_tree.h"
#include "protocol/device.h"
#include "searchplan/sequence/value.h"

namespace espalier {
namespace {

template <class T>
using Read = tl::expected<T, FileError>;

tl::unexpected<FileError> AtLine(const std::string& path, int line, const Error& error) {
  return tl::unexpected(FileError{path, line, error.field, error.message});
}

Result<int> ToCount(const YamlNode& node, const std::string& field, int most, int least = 1) {
  const Result<double> number = ToNumber(node, field);
  if (!number.has_value()) return tl::unexpected(number.error());
  if (*number >= least && *number <= most && *number == static_cast<int>(*number)) return static_cast<int>(*number);
  return Wrong(field, "got " + Describe(node) + "; expected a whole number from " + std::to_string(least) + " to " +
                          std::to_string(most));
}

Result<double> ToNumberIn(const YamlNode& node, const std::string& field, double least, double most) {
  Result<double> number = ToNumber(node, field);
  if (!number.has_value() || (*number >= least && *number <= most)) return number;
  return Wrong(
      field, "got " + Describe(node) + "; expected a number from " + Print(Value{least}) + " to " + Print(Value{most}));
}

struct SomeServers {
  sim::SimulatedServer kind;
  int count = 1;
};

Result<SomeServers> ToServers(const YamlNode& node, const std::string& field) {
  ESPALIER_RETURN_IF_ERROR(
      ExpectMapping(node, field, {"slots", "speed", "count", "gpus", "compute_thousandths", "memory_bytes", "price"}));
  SomeServers servers;
  const YamlNode* slots = node.Find("slots");
  if (slots == nullptr) return Wrong(field + ".slots", "missing; expected how many slots the server has");
  ESPALIER_ASSIGN(servers.kind.slots, ToCount(*slots, field + ".slots", sim::kSimulatedSlotsMax));
  if (const YamlNode* count = node.Find("count"); count != nullptr) {
    ESPALIER_ASSIGN(servers.count, ToCount(*count, field + ".count", kSimulatedServersMax));
  }
  if (const YamlNode* speed = node.Find("speed"); speed != nullptr) {
    ESPALIER_ASSIGN(servers.kind.speed, ToNumberIn(*speed, field + ".speed", 0.001, 1000));
  }
  if (const YamlNode* price = node.Find("price"); price != nullptr) {
    ESPALIER_ASSIGN(servers.kind.price, ToNumberIn(*price, field + ".price", 0, 1e9));
  }
  const YamlNode* gpus = node.Find("gpus");
  if (gpus != nullptr) {
    ESPALIER_ASSIGN(servers.kind.gpus, ToCount(*gpus, field + ".gpus", kSimulatedGpusMax));
  }
  for (const char* name : {"compute_thousandths", "memory_bytes"}) {
    if (node.Find(name) != nullptr && gpus == nullptr) return Wrong(field + "." + name, "is of GPUs; add gpus: N");
  }
  if (const YamlNode* compute = node.Find("compute_thousandths"); compute != nullptr) {
    ESPALIER_ASSIGN(servers.kind.gpu_compute,
                    ToCount(*compute, field + ".compute_thousandths", kComputeMax, kWholeDevice));
  }
  if (const YamlNode* memory = node.Find("memory_bytes"); memory != nullptr) {
    ESPALIER_ASSIGN(const double bytes, ToNumberIn(*memory, field + ".memory_bytes", 1, 1e15));
    servers.kind.gpu_memory_bytes = static_cast<std::int64_t>(bytes);
  }
  return servers;
}

Result<Arrival> ToArrival(const YamlNode& node, const std::string& field) {
  Arrival arrival;
  if (node.kind != YamlNode::Kind::kMapping) {
    ESPALIER_ASSIGN(arrival.after, ToDuration(node, field));
    return arrival;
  }
  ESPALIER_RETURN_IF_ERROR(ExpectMapping(node, field, {"after", "team"}));
  if (const YamlNode* after = node.Find("after"); after != nullptr) {
    ESPALIER_ASSIGN(arrival.after, ToDuration(*after, field + ".after"));
  }
  if (const YamlNode* team = node.Find("team"); team != nullptr) {
    if (team->kind != YamlNode::Kind::kScalar || team->text.empty()) {
      return Wrong(field + ".team", "got " + Describe(*team) + "; expected a team's name");
    }
    arrival.team = team->text;
  }
  return arrival;
}

}  // namespace

Read<std::vector<sim::SimulatedServer>> ParseServers(const std::string& path, const std::string& text) {
  const tl::expected<YamlNode, YamlError> root = ParseYaml(text);
  if (!root.has_value()) return tl::unexpected(FileError{path, root.error().line, "", root.error().message});
  if (root->kind != YamlNode::Kind::kList || root->items.empty()) {
    return tl::unexpected(FileError{path, root->line, "", "expected a list of servers, such as - {slots: 8}"});
  }
  std::vector<sim::SimulatedServer> all;
  for (std::size_t i = 0; i < root->items.size(); ++i) {
    const std::string field = "[" + std::to_string(i) + "]";
    const Result<SomeServers> servers = ToServers(root->items[i], field);
    if (!servers.has_value()) return AtLine(path, root->items[i].line, servers.error());
    all.insert(all.end(), static_cast<std::size_t>(servers->count), servers->kind);
    if (all.size() > kSimulatedServersMax) {
      return tl::unexpected(FileError{path, root->items[i].line, field,
                                      "expected at most " + std::to_string(kSimulatedServersMax) + " servers"});
    }
  }
  return all;
}

Read<std::map<std::string, Arrival>> ParseArrivals(const std::string& path, const std::string& text,
                                                   const std::vector<std::string>& studies) {
  const tl::expected<YamlNode, YamlError> root = ParseYaml(text);
  if (!root.has_value()) return tl::unexpected(FileError{path, root.error().line, "", root.error().message});
  const Result<void> expected = ExpectMapping(*root, "", {studies.begin(), studies.end()});
  std::map<std::string, Arrival> arrivals;
  if (!expected.has_value()) return AtLine(path, root->line, expected.error());
  for (const YamlEntry& entry : root->entries) {
    const Result<Arrival> arrival = ToArrival(entry.value, entry.key);
    if (!arrival.has_value()) return AtLine(path, entry.line, arrival.error());
    if (!arrivals.emplace(entry.key, *arrival).second) {
      return tl::unexpected(FileError{path, entry.line, entry.key, "it is there twice"});
    }
  }
  return arrivals;
}

Read<std::vector<sim::SimulatedServer>> ReadServers(const std::string& path) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text.has_value()) return AtLine(path, 1, text.error());
  return ParseServers(path, *text);
}

Read<std::map<std::string, Arrival>> ReadArrivals(const std::string& path, const std::vector<std::string>& studies) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text.has_value()) return AtLine(path, 1, text.error());
  return ParseArrivals(path, *text, studies);
}

}  // namespace espalier
