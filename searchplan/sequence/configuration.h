// Configurations: the functions of all hyper-parameters of a trainer, side by side.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/sequence.h"

namespace espalier {

// One function for each hyper-parameter, in the schema's order.
struct Configuration {
  std::vector<Function> functions;
  friend bool operator==(const Configuration&, const Configuration&) = default;
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
// segments. Error: as CompileFor, with the hyper-parameter's name as field; kInvalidArgument for one that the schema
// does not have (the message names the nearest that it has).
Result<std::vector<JointSegment>> ResolveTrial(const Schema& schema, const std::map<std::string, Expression>& sequences,
                                               Step horizon);

}  // namespace espalier
