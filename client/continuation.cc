#include "client/continuation.h"

#include <algorithm>

#include "client/json.h"
#include "client/request_id.h"

namespace espalier {
namespace {

Json DefinitionOf(const v1::Continuation& continuation) {
  Json definition = Json::Object({{"from_step", continuation.from_step()},
                                  {"steps", continuation.steps()},
                                  {"sequences", Json::Sorted(continuation.sequences())}});
  if (continuation.has_decay()) {
    const v1::Decay& decay = continuation.decay();
    definition.Add("decay", Json::Object({{"parameter", decay.parameter()},
                                          {"share", decay.share()},
                                          {"shape", decay.shape()},
                                          {"end", decay.end()}}));
  }
  return definition;
}

// What the study is, in place of a search space and a tuner.
std::string DefinitionOf(const v1::ContinueTrialRequest& request) {
  std::vector<Json> branches;
  for (const v1::Continuation& each : request.continuations()) branches.push_back(DefinitionOf(each));
  const Json continues = Json::Object({{"trial", request.trial_id()}, {"branches", Json::Array(std::move(branches))}});
  return CompactJson(Json::Object({{"study", request.name()}, {"continues", continues}}));
}

}  // namespace

Result<v1::ContinueTrialResponse> GoOnFrom(Connection& connection, v1::ContinueTrialRequest& request) {
  if (request.name().empty()) {
    const bool is_branched = std::ranges::any_of(request.continuations(), [](const v1::Continuation& each) {
      return !each.sequences().empty() || each.has_decay();
    });
    request.set_name("trial-" + std::to_string(request.trial_id()) + (is_branched ? "-branched" : "-extended"));
  }
  request.set_request_id(NewRequestId());
  request.set_definition(DefinitionOf(request));
  return connection.ContinueTrial(request);
}

}  // namespace espalier
