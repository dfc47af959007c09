#include "master/store/plan_rows.h"

namespace espalier::master {

struct PlanRows::Taker {
  PlanRows& rows;
  PlanId plan;

  void operator()(const AddPlanNode& change) const { rows.nodes_.emplace_back(plan, change); }
  void operator()(const AddClaim& change) const { rows.added_claims_.insert_or_assign(change.claim.id, change.claim); }
  void operator()(const SettleClaim& change) const {
    if (const auto added = rows.added_claims_.find(change.claim); added != rows.added_claims_.end()) {
      added->second.state = change.state;
    } else {
      rows.settled_claims_.insert_or_assign(change.claim, change.state);
    }
  }
  void operator()(const AddMetrics& change) const {
    rows.points_[change.point].metrics.emplace(change.evaluation, change.metrics);
  }
  void operator()(const SetCheckpoint& change) const {
    PointRows& point = rows.points_[change.point];
    point.checkpoint = change.checkpoint;
    point.state = change.state;
  }
  void operator()(const DropCheckpoint& change) const {
    PointRows& point = rows.points_[change.point];
    if (point.checkpoint && point.checkpoint->file != change.file) return;
    point.checkpoint.reset();
    point.dropped.insert(change.file);
  }
  void operator()(const SetFailure& change) const { rows.points_[change.point].failure = change.failure; }
  void operator()(const SetEvaluationFailure& change) const {
    rows.points_[change.point].evaluation_failures.insert_or_assign(change.evaluation, change.message);
  }
  void operator()(const SetAttempts& change) const {
    rows.attempts_.insert_or_assign({change.node, change.key}, change.attempts);
  }
  void operator()(const SetMeasurement& change) const {
    rows.measurements_.insert_or_assign({change.node, change.kind}, change.measurement);
  }
  void operator()(const SetTrainedRange& change) const {
    const auto [known, is_new] =
        rows.range_index_.emplace(std::pair(change.node, change.range.run), rows.ranges_.size());
    if (is_new) {
      rows.ranges_.emplace_back(change.node, change.range);
    } else {
      rows.ranges_[known->second].second = change.range;
    }
  }
};

void PlanRows::Take(PlanId plan, const PlanChange& change) { std::visit(Taker{*this, plan}, change); }

Result<void> PlanRows::TakeNodes(std::vector<RowSet>& sets) const {
  RowSet configuration("configuration/insert");
  RowSet node("plan_node/insert");
  std::map<Digest128, std::string_view> bodies;
  for (const auto& [plan, added] : nodes_) {
    const std::string& body = added.configuration.bytes();
    const Digest128 digest = DigestOf(body);
    const auto [known, is_new] = bodies.emplace(digest, body);
    if (is_new) {
      configuration.Add(digest, Bytes{body});
    } else if (known->second != body) {
      return MakeError(ErrorCode::kAborted, "two configurations have the digest " + ToHex(digest));
    }
    const auto origin_node = added.origin ? std::optional(added.origin->point.node) : std::nullopt;
    const auto origin_step = added.origin ? std::optional(added.origin->point.step) : std::nullopt;
    node.Add(added.id, plan, added.parent, added.start, digest, origin_node, origin_step, added.caused_by);
  }
  sets.push_back(std::move(configuration));
  sets.push_back(std::move(node));
  return {};
}

void PlanRows::TakeEvaluations(std::vector<RowSet>& sets, std::set<std::string>& stored) const {
  RowSet evaluation("evaluation/insert");
  const auto see = [&](const std::string& identity) {
    if (stored.insert(identity).second) evaluation.Add(identity);
  };
  for (const auto& [id, claim] : added_claims_) see(claim.evaluation);
  for (const auto& [at, rows] : points_) {
    for (const auto& [identity, metrics] : rows.metrics) see(identity);
  }
  sets.push_back(std::move(evaluation));
}

void PlanRows::TakeClaims(std::vector<RowSet>& sets) const {
  RowSet claim("claim/insert");
  RowSet settled("claim/settle");
  for (const auto& [id, added] : added_claims_) {
    claim.Add(id, added.trial, added.point.node, added.point.step, added.evaluation, Name(added.state));
  }
  for (const auto& [id, state] : settled_claims_) settled.Add(id, Name(state));
  sets.push_back(std::move(claim));
  sets.push_back(std::move(settled));
}

void PlanRows::TakePoints(std::vector<RowSet>& sets) const {
  RowSet point("point/set");
  RowSet cleared("point/clear_failure");
  RowSet checkpoint("checkpoint/set");
  RowSet dropped("checkpoint/drop");
  RowSet metric("metric/insert");
  RowSet failure("evaluation_failure/set");
  RowSet failure_cleared("evaluation_failure/clear");
  RowSet range("trained_range/set");
  RowSet measurement("measurement/set");
  for (const auto& [at, rows] : points_) {
    const Failure* failed = rows.failure && *rows.failure ? &**rows.failure : nullptr;
    const auto sha256 = rows.state ? std::optional(rows.state->sha256) : std::nullopt;
    const auto kind = failed != nullptr ? std::optional(Name(failed->kind)) : std::nullopt;
    const auto message = failed != nullptr ? std::optional(failed->message) : std::nullopt;
    if (rows.state || rows.failure) {
      point.Add(at.node, at.step, sha256, rows.state && rows.state->disputed, kind, message);
    }
    if (rows.failure && failed == nullptr) cleared.Add(at.node, at.step);
    if (rows.checkpoint) {
      const Checkpoint& stored = *rows.checkpoint;
      checkpoint.Add(at.node, at.step, stored.file, stored.bytes, stored.run, stored.stored_at);
    }
    for (const std::string& file : rows.dropped) dropped.Add(at.node, at.step, file);
    for (const auto& [identity, metrics] : rows.metrics) {
      metric.Add(at.node, at.step, identity, KeysOf(metrics), ValuesOf(metrics));
    }
    for (const auto& [identity, why] : rows.evaluation_failures) {
      why ? failure.Add(at.node, at.step, identity, *why) : failure_cleared.Add(at.node, at.step, identity);
    }
  }
  for (const auto& [node, trained] : ranges_) range.Add(node, trained.run, trained.from, trained.to, trained.seconds);
  for (const auto& [what, measured] : measurements_) {
    measurement.Add(what.first, Name(what.second), measured.count, measured.total);
  }
  for (RowSet* set :
       {&point, &cleared, &checkpoint, &dropped, &metric, &failure, &failure_cleared, &range, &measurement}) {
    sets.push_back(std::move(*set));
  }
  TakeAttempts(sets);
}

void PlanRows::TakeAttempts(std::vector<RowSet>& sets) const {
  RowSet attempt("attempt/set");
  RowSet cleared("attempt/clear");
  const auto texts = [](const std::set<std::string>& set) { return std::vector<std::string>(set.begin(), set.end()); };
  for (const auto& [place, attempts] : attempts_) {
    const auto& [node, key] = place;
    if (!attempts) {
      cleared.Add(node, key.from, key.evaluation);
      continue;
    }
    const bool held = attempts->not_before == Time::max();
    const auto not_before = held || attempts->not_before == Time{} ? std::nullopt : std::optional(attempts->not_before);
    attempt.Add(node, key.from, key.evaluation, attempts->crashes, attempts->kills, attempts->unusable,
                attempts->earliest, texts(attempts->servers), texts(attempts->lost_servers), attempts->begun_at.node,
                attempts->begun_at.step, not_before, held, attempts->log, attempts->demand.compute,
                attempts->demand.memory_bytes);
  }
  sets.push_back(std::move(attempt));
  sets.push_back(std::move(cleared));
}

}  // namespace espalier::master
