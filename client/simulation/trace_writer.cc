#include <ostream>

#include "client/json.h"
#include "client/simulation/trace.h"

namespace espalier {
namespace {

Json OptionalSeconds(std::optional<Seconds> time) { return time ? Json(time->count()) : Json(nullptr); }

Json InJson(const std::map<CostKind, Seconds>& costs) {
  Json json = Json::Object();
  for (const auto& [kind, time] : costs) json.Add(std::string(Name(kind)), time.count());
  return json;
}

Json InJson(const TracedStretch& stretch) {
  return Json::Object({{"node", stretch.node}, {"step", stretch.until.value}});
}

void WriteLine(std::ostream& out, const Json& line) { out << CompactJson(line) << '\n'; }

void WriteTrial(std::ostream& out, std::int64_t study, const TracedTrial& trial) {
  Json lineage = Json::Array();
  for (const TracedStretch& stretch : trial.lineage) lineage.Append(InJson(stretch));
  Json claims = Json::Array();
  for (const TracedClaim& claim : trial.claims) {
    claims.Append(Json::Object({{"step", claim.step.value},
                                {"made", claim.made.count()},
                                {"settled", OptionalSeconds(claim.settled)},
                                {"state", Name(claim.state)}}));
  }
  Json metrics = Json::Array();
  for (const auto& [step, values] : trial.metrics) {
    metrics.Append(Json::Object({{"step", step.value}, {"values", Json::Sorted(values)}}));
  }
  WriteLine(out, Json::Object({{"trial", trial.id},
                               {"study", study},
                               {"sequences", Json::Sorted(trial.sequences)},
                               {"horizon", trial.horizon.value},
                               {"submitted", trial.submitted.count()},
                               {"closed", OptionalSeconds(trial.closed)},
                               {"cancelled", trial.cancelled},
                               {"lineage", std::move(lineage)},
                               {"claims", std::move(claims)},
                               {"metrics", std::move(metrics)}}));
}

}  // namespace

void WriteTrace(std::ostream& out, const TraceHead& head) {
  WriteLine(out, Json::Object({{"trace", kTraceVersion}, {"began", head.began}, {"policy", head.policy}}));
}

void WriteTrace(std::ostream& out, const TracedServer& server) {
  WriteLine(out,
            Json::Object({{"server", server.name}, {"slots", server.slots}, {"gone", OptionalSeconds(server.gone)}}));
}

void WriteTrace(std::ostream& out, const TracedStudy& study) {
  WriteLine(out, Json::Object({{"study", study.id},
                               {"name", study.name},
                               {"definition", study.definition},
                               {"has_tuner", study.has_tuner},
                               {"trainer", study.trainer},
                               {"metric", study.metric},
                               {"goal", Name(study.goal)},
                               {"share", Name(study.scope)},
                               {"arrived", study.arrived.count()},
                               {"ended", study.ended.count()},
                               {"cancelled", study.cancelled},
                               {"device_seconds", study.device_time.count()},
                               {"steps", Json::Object({{"claimed", study.claimed_steps},
                                                       {"unique", study.unique_steps},
                                                       {"trained", study.trained_steps},
                                                       {"reused", study.reused_steps}})}}));
  for (const TracedNode& node : study.nodes) {
    WriteLine(
        out, Json::Object(
                 {{"node", node.id}, {"study", study.id}, {"trained", node.trained}, {"seconds", InJson(node.costs)}}));
  }
  for (const TracedTrial& trial : study.trials) WriteTrial(out, study.id, trial);
  for (const TracedRun& run : study.runs) {
    WriteLine(out, Json::Object({{"run", run.id},
                                 {"study", study.id},
                                 {"server", run.server},
                                 {"slot", run.slot},
                                 {"slots", run.slots},
                                 {"from", InJson(run.from)},
                                 {"to", InJson(run.to)},
                                 {"held_from", run.held_from.count()},
                                 {"held_until", run.held_until.count()},
                                 {"device_seconds", run.charged.count()}}));
  }
}

}  // namespace espalier
