#include "searchplan/sequence/configuration.h"

#include <algorithm>

#include "base/check.h"
#include "searchplan/sequence/canonical_bytes.h"
#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

constexpr std::size_t kFunctionBytesMin = 4;

tl::unexpected<Error> NoSuchHyperParameter(const Schema& schema, const ValueTypes& undeclared, std::string_view name) {
  const std::string shown = Shortened(name);
  if (schema.takes_any) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "neither the trainer nor the study says what type " + shown + " is of", shown);
  }
  std::vector<std::string_view> names;
  for (const HyperParameter& each : schema.hyper_parameters) names.push_back(each.name);
  for (const auto& [each, type] : undeclared) names.push_back(each);
  if (names.empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "the trainer has no hyper-parameters, got " + shown, shown);
  }
  return MakeError(
      ErrorCode::kInvalidArgument,
      "the trainer has no hyper-parameter " + shown + ", did you mean " + std::string(NearestName(name, names)) + "?",
      shown);
}

// Names the functions behind the first `declared_count`, but for those that are neutral.
void NameUndeclared(Configuration& configuration, std::size_t declared_count, const std::vector<std::string>& names) {
  std::size_t kept = declared_count;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Function& function = configuration.functions[declared_count + i];
    const auto* constant = std::get_if<Constant>(&function.primitive);
    if (constant != nullptr && constant->value == NeutralValue(TypeOf(constant->value))) continue;
    configuration.undeclared.push_back(names[i]);
    if (kept != declared_count + i) configuration.functions[kept] = std::move(function);
    ++kept;
  }
  configuration.functions.resize(kept);
}

// The names behind the functions, where there are any.
Result<void> TakeUndeclared(CanonicalReader& reader, Configuration& configuration) {
  ESPALIER_ASSIGN(const std::int64_t count, reader.TakeNumber());
  if (count < 1 || count > static_cast<std::int64_t>(configuration.functions.size())) {
    return MakeError(ErrorCode::kInvalidArgument, "canonical bytes: expected 1 to as many names as functions");
  }
  for (std::int64_t i = 0; i < count; ++i) {
    ESPALIER_ASSIGN(std::string name, reader.TakeText());
    if (!configuration.undeclared.empty() && name <= configuration.undeclared.back()) {
      return MakeError(ErrorCode::kInvalidArgument, "canonical bytes: expected names in order");
    }
    configuration.undeclared.push_back(std::move(name));
  }
  return {};
}

}  // namespace

const Function* Configuration::FindUndeclared(std::string_view name) const {
  const auto found = std::lower_bound(undeclared.begin(), undeclared.end(), name);
  if (found == undeclared.end() || *found != name) return nullptr;
  return &functions[DeclaredCount() + static_cast<std::size_t>(found - undeclared.begin())];
}

std::string CanonicalBytes(const Configuration& configuration) {
  constexpr std::size_t kUsualFunctionBytes = 32;
  std::string bytes;
  bytes.reserve(9 + kUsualFunctionBytes * configuration.functions.size());
  AppendByte(bytes, kCanonicalVersion);
  AppendNumber(bytes, static_cast<std::int64_t>(configuration.functions.size()));
  for (const Function& function : configuration.functions) AppendFunction(bytes, function);
  if (configuration.undeclared.empty()) return bytes;
  AppendNumber(bytes, static_cast<std::int64_t>(configuration.undeclared.size()));
  for (const std::string& name : configuration.undeclared) AppendText(bytes, name);
  return bytes;
}

Result<Configuration> ParseConfiguration(std::string_view bytes) {
  CanonicalReader reader(bytes);
  ESPALIER_RETURN_IF_ERROR(reader.TakeVersion());
  ESPALIER_ASSIGN(const std::int64_t count, reader.TakeNumber());
  Configuration configuration;
  const auto most = static_cast<std::int64_t>(bytes.size() / kFunctionBytesMin);  // whatever the count says
  configuration.functions.reserve(static_cast<std::size_t>(std::clamp(count, std::int64_t{0}, most)));
  for (std::int64_t i = 0; i < count; ++i) {
    ESPALIER_ASSIGN(Function function, reader.TakeFunction());
    configuration.functions.push_back(std::move(function));
  }
  if (!reader.AtEnd()) {
    ESPALIER_RETURN_IF_ERROR(TakeUndeclared(reader, configuration));
  }
  if (count < 0 || !reader.AtEnd()) {
    return MakeError(ErrorCode::kInvalidArgument, "canonical bytes: expected the number of functions that follow");
  }
  return configuration;
}

Result<PackedConfiguration> PackedConfiguration::Parse(std::string bytes) {
  ESPALIER_RETURN_IF_ERROR(ParseConfiguration(bytes));
  PackedConfiguration packed;
  packed.bytes_ = std::move(bytes);
  return packed;
}

Configuration PackedConfiguration::Unpack() const {
  Result<Configuration> configuration = ParseConfiguration(bytes_);
  ESPALIER_CHECK(configuration.has_value()) << "bytes that no configuration has";
  return *std::move(configuration);
}

Digest128 DigestOf(const Configuration& configuration) { return DigestOf(CanonicalBytes(configuration)); }

Result<std::vector<JointSegment>> JointSegments(const std::vector<Sequence>& sequences, Step horizon) {
  std::vector<Step> starts = {Step{0}};
  for (const Sequence& sequence : sequences) {
    ESPALIER_CHECK(sequence.horizon >= horizon) << "a sequence that ends before the trial";
    for (const Segment& segment : sequence.segments) {
      if (segment.start < horizon) starts.push_back(segment.start);
    }
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  if (starts.size() > kSegmentCountMax) {
    return MakeError(ErrorCode::kResourceExhausted, "expected at most " + std::to_string(kSegmentCountMax) +
                                                        " joint segments up to the horizon, got " +
                                                        std::to_string(starts.size()));
  }
  std::vector<JointSegment> joint_segments;
  joint_segments.reserve(starts.size());
  std::vector<std::size_t> indices(sequences.size(), 0);
  for (const Step start : starts) {
    JointSegment joint{start, {}};
    joint.configuration.functions.reserve(sequences.size());
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const auto& segments = sequences[i].segments;
      while (indices[i] + 1 < segments.size() && segments[indices[i] + 1].start <= start) ++indices[i];
      joint.configuration.functions.push_back(segments[indices[i]].function);
    }
    joint_segments.push_back(std::move(joint));
  }
  return joint_segments;
}

Result<std::vector<JointSegment>> ResolveTrial(const Schema& schema, const std::map<std::string, Expression>& sequences,
                                               Step horizon, const ValueTypes& undeclared) {
  std::vector<Sequence> compiled;
  compiled.reserve(schema.hyper_parameters.size());
  for (const HyperParameter& hyper_parameter : schema.hyper_parameters) {
    const auto given = sequences.find(hyper_parameter.name);
    auto sequence = CompileFor(
        hyper_parameter, given == sequences.end() ? Expression{hyper_parameter.default_value} : given->second, horizon);
    if (!sequence.has_value()) return InField(hyper_parameter.name, sequence.error());
    compiled.push_back(*std::move(sequence));
  }
  std::vector<std::string> names;  // of those that the schema does not declare
  for (const auto& [name, expression] : sequences) {
    if (schema.Find(name) != nullptr) continue;
    const auto type = undeclared.find(name);
    if (type == undeclared.end()) return NoSuchHyperParameter(schema, undeclared, name);
    auto sequence = Compile(expression, type->second, horizon);
    if (!sequence.has_value()) return InField(name, sequence.error());
    compiled.push_back(*std::move(sequence));
    names.push_back(name);
  }
  ESPALIER_ASSIGN(std::vector<JointSegment> segments, JointSegments(compiled, horizon));
  for (JointSegment& segment : segments) {
    NameUndeclared(segment.configuration, schema.hyper_parameters.size(), names);
  }
  return segments;
}

}  // namespace espalier
