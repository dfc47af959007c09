// Configurations: the functions of all hyper-parameters of a trainer, side by side.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/sequence.h"

namespace espalier {

// One function for each hyper-parameter that the schema declares, in its order; then one for each of `undeclared`.
// Invariant: undeclared ones are sorted by name, and none of them is a Constant of its NeutralValue: a hyper-parameter
// that has no effect here is the same as one that nobody named.
struct Configuration {
  std::vector<Function> functions;
  std::vector<std::string> undeclared = {};  // names; only under a schema that takes any
  friend bool operator==(const Configuration&, const Configuration&) = default;

  std::size_t DeclaredCount() const { return functions.size() - undeclared.size(); }
  // Of an undeclared hyper-parameter; null if it is neutral here.
  const Function* FindUndeclared(std::string_view name) const;
};

// The canonical bytes of all functions, and back; for the database and the wire. Error of the latter: kInvalidArgument.
std::string CanonicalBytes(const Configuration& configuration);
Result<Configuration> ParseConfiguration(std::string_view bytes);

Digest128 DigestOf(const Configuration& configuration);

// A configuration as its canonical bytes: a few bytes a function, and equal exactly if the configurations are. A value.
class PackedConfiguration {
 public:
  PackedConfiguration() : PackedConfiguration(Configuration{}) {}
  PackedConfiguration(const Configuration& configuration) : bytes_(CanonicalBytes(configuration)) {}
  // Error: as ParseConfiguration.
  static Result<PackedConfiguration> Parse(std::string bytes);

  Configuration Unpack() const;
  const std::string& bytes() const { return bytes_; }

  friend bool operator==(const PackedConfiguration&, const PackedConfiguration&) = default;

 private:
  std::string bytes_;
};

// Between two neighbouring break points of any of a trial's sequences.
struct JointSegment {
  Step start;
  Configuration configuration;
  friend bool operator==(const JointSegment&, const JointSegment&) = default;
};

// Cuts the sequences of a trial into joint segments up to `horizon`. `sequences` has one for each hyper-parameter of
// the schema, in its order. Error: kResourceExhausted over kSegmentCountMax.
Result<std::vector<JointSegment>> JointSegments(const std::vector<Sequence>& sequences, Step horizon);

// What a trial's text means under a schema: named expressions compiled, the rest at their defaults, cut into joint
// segments. `undeclared` has the types of those that are named without being declared. Error: as CompileFor, with the
// hyper-parameter's name as field; kInvalidArgument for one that neither has (the message names the nearest).
Result<std::vector<JointSegment>> ResolveTrial(const Schema& schema, const std::map<std::string, Expression>& sequences,
                                               Step horizon, const ValueTypes& undeclared = {});

}  // namespace espalier
