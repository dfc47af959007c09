#include "searchplan/sequence/projection.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {
namespace {

bool IsNeutral(const Function& function) {
  const auto* constant = std::get_if<Constant>(&function.primitive);
  return constant != nullptr && function.factors.empty() && constant->value == NeutralValue(TypeOf(constant->value));
}

Configuration Projected(const Configuration& configuration, const Schema& from, const Schema& onto) {
  std::map<std::string_view, const Function*> named;
  for (std::size_t i = 0; i < from.hyper_parameters.size(); ++i) {
    named.emplace(from.hyper_parameters[i].name, &configuration.functions[i]);
  }
  for (const std::string& name : configuration.undeclared) named.emplace(name, configuration.FindUndeclared(name));
  Configuration projected;
  for (const HyperParameter& parameter : onto.hyper_parameters) {
    const auto known = named.extract(parameter.name);
    projected.functions.push_back(known ? *known.mapped() : Function{Constant{NeutralValue(parameter.type)}, Step{0}});
  }
  if (!onto.takes_any) return projected;
  for (const auto& [name, function] : named) {
    if (IsNeutral(*function)) continue;
    projected.functions.push_back(*function);
    projected.undeclared.emplace_back(name);
  }
  return projected;
}

}  // namespace

std::vector<JointSegment> Projected(const std::vector<JointSegment>& segments, const Schema& from, const Schema& onto) {
  std::vector<JointSegment> projected;
  for (const JointSegment& segment : segments) {
    Configuration configuration = Projected(segment.configuration, from, onto);
    if (!projected.empty() && projected.back().configuration == configuration) continue;
    projected.push_back({segment.start, std::move(configuration)});
  }
  return projected;
}

}  // namespace espalier
