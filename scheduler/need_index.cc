#include "scheduler/need_index.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace espalier {
namespace {

// An estimate that changes by less than one part in so many changes no order that matters.
constexpr std::int64_t kEstimateTolerance = 16;

}  // namespace

void StudyTally::Add(StudyId study, std::int64_t count) {
  const auto at = std::lower_bound(counts_.begin(), counts_.end(), study,
                                   [](const auto& each, StudyId wanted) { return each.first < wanted; });
  if (at == counts_.end() || at->first != study) {
    if (count != 0) counts_.insert(at, {study, count});
    return;
  }
  at->second += count;
  if (at->second == 0) counts_.erase(at);
}

void StudyTally::Add(const StudyTally& other, std::int64_t sign) {
  for (const auto& [study, count] : other.counts_) Add(study, sign * count);
}

std::int64_t StudyTally::Of(StudyId study) const {
  const auto at = std::lower_bound(counts_.begin(), counts_.end(), study,
                                   [](const auto& each, StudyId wanted) { return each.first < wanted; });
  return at == counts_.end() || at->first != study ? 0 : at->second;
}

std::int64_t NeedIndex::StepTimeOf(PlanNodeId id) const {
  const auto node = nodes_.find(id);
  return node == nodes_.end() ? 0 : node->second.step_time;
}

const Place* NeedIndex::Find(Point point) const {
  const auto node = nodes_.find(point.node);
  if (node == nodes_.end()) return nullptr;
  const auto place = node->second.places.find(point.step);
  return place == node->second.places.end() ? nullptr : &place->second;
}

std::set<ReadyStage>::const_iterator NeedIndex::FirstReadyFor(StudyId study) const {
  constexpr Rank kMost{kWideCountMax, std::numeric_limits<std::int64_t>::max()};
  return ready_stages_.lower_bound({study, kMost, {}, {}});
}

std::optional<Point> NeedIndex::Above(const SearchPlan& plan, Point point) const {
  if (point.step == Step{0}) return std::nullopt;
  const std::map<Step, Place>& places = nodes_.at(point.node).places;
  const auto at = places.lower_bound(point.step);
  if (at != places.begin()) return Point{point.node, std::prev(at)->first};
  const PlanNode& node = plan.Node(point.node);
  return node.parent ? Point{*node.parent, node.start} : Point{point.node, Step{0}};
}

std::vector<PathStage> NeedIndex::BestPath(const SearchPlan& plan, Point source, PlanNodeId first,
                                           bool one_stage) const {
  std::vector<PathStage> path;
  for (std::optional<PlanNodeId> successor = first; successor;) {
    const std::map<Step, Place>& places = nodes_.at(*successor).places;
    const bool goes_on = *successor == source.node;
    const auto next = goes_on ? places.upper_bound(source.step) : places.begin();
    if (goes_on && !path.empty()) {
      path.back().to = next->first;
    } else {
      path.push_back({*successor, goes_on ? source.step : plan.Node(*successor).start, next->first});
    }
    source = {*successor, next->first};
    const std::set<RankedSuccessor>& order = next->second.order;
    successor = one_stage || order.empty() ? std::nullopt : std::optional(order.begin()->node);
  }
  return path;
}

void NeedIndex::LookAgainAt(StudyId study) {
  for (auto ready = FirstReadyFor(study); ready != ready_stages_.end() && ready->study == study; ++ready) {
    work_changed_.insert({ready->source, ready->first});
  }
}

bool NeedIndex::IsReady(const StageAt& stage) const {
  const Place* source = Find(stage.source);
  return source != nullptr && source->stored && source->successors.contains(stage.first);
}

Point NeedIndex::EndOf(const StageAt& stage) const {
  const std::map<Step, Place>& places = nodes_.at(stage.first).places;
  const auto end = stage.first == stage.source.node ? places.upper_bound(stage.source.step) : places.begin();
  return {stage.first, end->first};
}

std::optional<ClaimId> NeedIndex::WaitingBelow(const StageAt& stage) const {
  const Place* source = Find(stage.source);
  if (source == nullptr || !source->successors.contains(stage.first)) return std::nullopt;
  return WaitingAt(EndOf(stage));
}

std::optional<ClaimId> NeedIndex::WaitingAt(Point point) const {
  for (const Place* place = Find(point); place != nullptr; place = Find(point)) {
    std::optional<ClaimId> first;
    for (const auto& [evaluation, waiting] : place->waiting) {
      if (waiting.claims.empty()) continue;
      first = std::min(first.value_or(*waiting.claims.begin()), *waiting.claims.begin());
    }
    if (first || place->order.empty()) return first;
    point = EndOf({point, place->order.begin()->node});
  }
  return std::nullopt;
}

std::optional<Point> NeedIndex::StateFor(const SearchPlan& plan, Point point) const {
  std::optional<Point> at = point;
  while (at) {
    const Place* place = Find(*at);
    if (place == nullptr) return std::nullopt;
    if (place->has_state()) return at;
    at = Above(plan, *at);
  }
  return std::nullopt;
}

std::map<ClaimId, Point> NeedIndex::WaitingFrom(const SearchPlan& plan, Point point) const {
  std::map<ClaimId, Point> claims;
  std::vector<Point> to_look_at{point};
  while (!to_look_at.empty()) {
    const Point from = to_look_at.back();
    to_look_at.pop_back();
    if (const auto node = nodes_.find(from.node); node != nodes_.end()) {
      for (auto it = node->second.places.lower_bound(from.step); it != node->second.places.end(); ++it) {
        for (const auto& [evaluation, waiting] : it->second.waiting) {
          for (const ClaimId claim : waiting.claims) claims.emplace(claim, Point{from.node, it->first});
        }
      }
    }
    for (const PlanNodeId child : plan.Node(from.node).children) {
      if (plan.Node(child).start >= from.step) to_look_at.push_back({child, Step{0}});
    }
  }
  return claims;
}

NeedIndex::NodeNeeds& NeedEditor::Node(PlanNodeId id) {
  const auto [it, is_new] = index_.nodes_.try_emplace(id);
  if (is_new) {
    const PlanNode& node = plan_.Node(id);
    it->second.step_time = step_time_(node);
    // Init, unless the lineage begins with a state of other code: then nothing is ever trained from there.
    if (!node.parent) it->second.places[Step{0}].stored = !plan_.origins.contains(id);
  }
  return it->second;
}

Place* NeedEditor::Get(Point point) {
  const auto node = index_.nodes_.find(point.node);
  if (node == index_.nodes_.end()) return nullptr;
  const auto place = node->second.places.find(point.step);
  return place == node->second.places.end() ? nullptr : &place->second;
}

// A new place cuts the stage that it lies on: what follows on its node hangs from it now, and it hangs in the other's
// stead, until it is looked at itself.
Place& NeedEditor::Ensure(Point point) {
  NeedIndex::NodeNeeds& node = Node(point.node);
  const auto [it, is_new] = node.places.try_emplace(point.step);
  const auto next = std::next(it);
  if (is_new && next != node.places.end() && next->second.hangs) {
    it->second.hangs = true;
    // Whoever has not looked at the whole stage yet has to look at both parts.
    if (index_.news_.needed.contains({point.node, next->first})) index_.news_.needed.insert(point);
    SetSuccessor(point, point.node, TotalsOf({point.node, next->first}, next->second));
  }
  return it->second;
}

std::int64_t NeedEditor::UncoveredClaims(const Place& place) const {
  std::int64_t count = 0;
  for (const auto& [study, claims] : place.studies.counts()) count += claims;
  return count;
}

StageTotals NeedEditor::TotalsOf(Point point, const Place& place) const {
  const NeedIndex::NodeNeeds& node = index_.nodes_.at(point.node);
  const auto at = node.places.lower_bound(point.step);
  const Step from = at != node.places.begin() ? std::prev(at)->first : plan_.Node(point.node).start;
  const WideCount time = WideCount{node.step_time} * (point.step - from);
  StageTotals totals = place.below;
  totals.longest += time;
  totals.work += time;
  totals.stages += 1;
  totals.children = std::ssize(place.successors);
  totals.claims += UncoveredClaims(place);
  totals.studies.Add(place.studies, 1);
  return totals;
}

Rank NeedEditor::RankOf(const StageTotals& totals, Step from) const {
  switch (ranking_) {
    case Ranking::kLongest:
      return {totals.longest, 0};
    case Ranking::kBreadthFirst:
      return {-from.value, 0};
    case Ranking::kMostBelow:
      return {totals.stages, totals.claims};
    case Ranking::kMostChildren:
      return {totals.children, 0};
  }
  return {};
}

void NeedEditor::ListReady(Point source, PlanNodeId first, const StageTotals& totals, bool is_ready) {
  const Rank rank = RankOf(totals, source.step);
  index_.work_changed_.insert({source, first});
  for (const auto& [study, count] : totals.studies.counts()) {
    const ReadyStage stage{study, rank, source, first};
    is_ready ? (void)index_.ready_stages_.insert(stage) : (void)index_.ready_stages_.erase(stage);
    index_.ready_changed_.insert(study);
  }
}

void NeedEditor::SetStored(Point point, Place& place, bool stored) {
  if (place.stored == stored) return;
  place.stored = stored;
  for (const auto& [node, totals] : place.successors) ListReady(point, node, totals, stored);
}

void NeedEditor::SetSuccessor(Point above, PlanNodeId node, std::optional<StageTotals> totals) {
  Place& place = Ensure(above);
  const auto known = place.successors.find(node);
  if (known != place.successors.end()) {
    place.order.erase({RankOf(known->second, above.step), node});
    place.below.work -= known->second.work;
    place.below.stages -= known->second.stages;
    place.below.claims -= known->second.claims;
    place.below.studies.Add(known->second.studies, -1);
    if (ranking_ != Ranking::kLongest) place.longest.erase(place.longest.find(known->second.longest));
    if (place.stored) ListReady(above, node, known->second, false);
    place.successors.erase(known);
  }
  if (totals) {
    place.order.insert({RankOf(*totals, above.step), node});
    if (ranking_ != Ranking::kLongest) place.longest.insert(totals->longest);
    place.below.work += totals->work;
    place.below.stages += totals->stages;
    place.below.claims += totals->claims;
    place.below.studies.Add(totals->studies, 1);
    if (place.stored) ListReady(above, node, *totals, true);
    place.successors.emplace(node, *std::move(totals));
  }
  place.below.longest = LongestOf(place);
}

WideCount NeedEditor::LongestOf(const Place& place) const {
  if (ranking_ == Ranking::kLongest) return place.order.empty() ? 0 : place.order.begin()->rank.first;
  return place.longest.empty() ? 0 : *place.longest.rbegin();
}

void NeedEditor::RegisterReady(Point point, const Place& place) {
  std::optional<ReadyPath> ready;
  if (place.stored && !place.order.empty()) ready = ReadyPath{place.order.begin()->rank, point};
  const auto known = index_.ready_of_source_.find(point);
  if (known != index_.ready_of_source_.end()) {
    if (ready && known->second == *ready) return;
    index_.ready_paths_.erase(known->second);
    index_.ready_of_source_.erase(known);
  }
  if (!ready) return;
  index_.ready_paths_.insert(*ready);
  index_.ready_of_source_.emplace(point, *ready);
}

void NeedEditor::RegisterWork(Point point, const Place& place) {
  NeedIndex::WorkBelow now;
  if (place.has_state()) now = {place.below.work, place.below.longest, place.below.claims + UncoveredClaims(place)};
  const auto known = index_.work_below_.find(point);
  const NeedIndex::WorkBelow before = known == index_.work_below_.end() ? NeedIndex::WorkBelow{} : known->second;
  if (before == now) return;
  if (known != index_.work_below_.end()) {
    index_.longest_left_.erase(index_.longest_left_.find(before.longest));
    index_.work_below_.erase(known);
  }
  index_.work_left_ += now.work - before.work;
  index_.claims_left_ += now.claims - before.claims;
  if (now == NeedIndex::WorkBelow{}) return;
  index_.longest_left_.insert(now.longest);
  index_.work_below_.emplace(point, now);
}

void NeedEditor::Refresh(Point point) {
  std::optional<Point> next = point;
  while (next) next = RefreshOne(*next);
}

// Forgets a place where nothing stands and nothing is wanted.
void NeedEditor::EraseIfEmpty(Point point, const Place& place) {
  if (place.has_state() || place.wants_state() || !place.waiting.empty()) return;
  NeedIndex::NodeNeeds& node = index_.nodes_.at(point.node);
  node.places.erase(point.step);
  if (node.places.empty()) index_.nodes_.erase(point.node);
}

void NeedEditor::NoteNews(Point point, const Place& place) {
  if (place.stored && point.step > Step{0}) index_.looked_at_.insert(point);
  index_.news_.served.insert(place.promised.begin(), place.promised.end());
  bool unneeded = !place.promised.empty() && !place.wants_state();
  for (const auto& [evaluation, waiting] : place.waiting) {
    const bool ready =
        place.stored && evaluation != kStateAlone && waiting.covered_by.empty() && !waiting.claims.empty();
    const ReadyEvaluation evaluate{evaluation, point};
    ready ? (void)index_.ready_evaluations_.insert(evaluate) : (void)index_.ready_evaluations_.erase(evaluate);
    index_.news_.served.insert(waiting.covered_by.begin(), waiting.covered_by.end());
    unneeded |= waiting.claims.empty() && !waiting.covered_by.empty();
    const bool uncovered = waiting.covered_by.empty() && !waiting.claims.empty();
    if (uncovered && !place.promised.empty()) index_.news_.needed.insert(point);
  }
  unneeded ? (void)index_.news_.unneeded.insert(point) : (void)index_.news_.unneeded.erase(point);
}

// Nothing stands here and nobody but the stage that follows on the node wants anything: the two are one stage again. If
// a state stood here until now, the stage has become longer, and a run may pass the new part of it.
Point NeedEditor::Dissolve(Point point, Point above) {
  std::map<Step, Place>& places = index_.nodes_.at(point.node).places;
  const auto place = places.find(point.step);
  const bool had_state = !place->second.hangs;
  const auto next = places.erase(place);
  if (had_state) index_.news_.needed.insert({point.node, next->first});
  SetSuccessor(above, point.node, TotalsOf({point.node, next->first}, next->second));
  return above;
}

std::optional<Point> NeedEditor::RefreshOne(Point point) {
  Place* place = Get(point);
  if (place == nullptr) return std::nullopt;
  RegisterReady(point, *place);
  RegisterWork(point, *place);
  NoteNews(point, *place);
  if (point.step == Step{0}) {  // Init
    const bool is_rootless = !place->stored && place->wants_state();
    is_rootless ? (void)index_.rootless_.insert(point.node) : (void)index_.rootless_.erase(point.node);
    return std::nullopt;
  }
  const bool hangs = !place->has_state() && (!place->successors.empty() || !place->studies.counts().empty());
  if (!hangs && !place->hangs) {
    EraseIfEmpty(point, *place);
    return std::nullopt;
  }
  const Point above = index_.Above(plan_, point).value();
  if (hangs && place->waiting.empty() && place->successors.size() == 1 && place->successors.contains(point.node)) {
    return Dissolve(point, above);
  }
  const bool hung = std::exchange(place->hangs, hangs);
  if (!hangs) {
    EraseIfEmpty(point, *place);
    SetSuccessor(above, point.node, std::nullopt);
    return above;
  }
  if (!hung) index_.news_.needed.insert(point);
  StageTotals totals = TotalsOf(point, *place);
  if (const Place* from = Get(above)) {
    const auto known = from->successors.find(point.node);
    if (known != from->successors.end() && known->second == totals) return std::nullopt;
  }
  SetSuccessor(above, point.node, std::move(totals));
  return above;
}

void NeedEditor::AddClaim(const Claim& claim, Point point, StudyId study) {
  Place& place = Ensure(point);
  Place::Waiting& waiting = place.waiting[claim.evaluation];
  waiting.claims.insert(claim.id);
  if (waiting.covered_by.empty()) place.studies.Add(study, 1);
  Refresh(point);
}

void NeedEditor::RemoveClaim(const Claim& claim, Point point, StudyId study) {
  Place* place = Get(point);
  ESPALIER_CHECK(place != nullptr) << "claim " << claim.id.value << " is not indexed";
  Place::Waiting& waiting = place->waiting.at(claim.evaluation);
  waiting.claims.erase(claim.id);
  if (waiting.covered_by.empty()) place->studies.Add(study, -1);
  if (waiting.claims.empty()) {
    index_.ready_evaluations_.erase({claim.evaluation, point});
    if (waiting.covered_by.empty()) place->waiting.erase(claim.evaluation);
  }
  Refresh(point);
}

void NeedEditor::AddCheckpoint(Point point) {
  SetStored(point, Ensure(point), true);
  Refresh(point);
}

void NeedEditor::RemoveCheckpoint(Point point) {
  Place* place = Get(point);
  if (place == nullptr) return;
  SetStored(point, *place, false);
  Refresh(point);
}

void NeedEditor::AddPromise(Point point, RunId run) {
  Ensure(point).promised.push_back(run);
  Refresh(point);
}

void NeedEditor::RemovePromise(Point point, RunId run) {
  Place* place = Get(point);
  ESPALIER_CHECK(place != nullptr) << "a promise at step " << point.step.value << " is not indexed";
  std::erase(place->promised, run);
  Refresh(point);
}

void NeedEditor::Reestimate(PlanNodeId id) {
  const auto node = index_.nodes_.find(id);
  if (node == index_.nodes_.end()) return;
  const std::int64_t step_time = step_time_(plan_.Node(id));
  const std::int64_t before = node->second.step_time;
  if (std::abs(step_time - before) <= before / kEstimateTolerance) return;
  node->second.step_time = step_time;
  std::vector<Step> steps;
  for (const auto& [step, place] : node->second.places) {
    if (place.hangs) steps.push_back(step);
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) Refresh({id, *step});
}

void NeedEditor::Cover(Point point, const std::string& evaluation, RunId run, const StudyOf& study_of) {
  Place& place = Ensure(point);
  Place::Waiting& waiting = place.waiting[evaluation];
  if (waiting.covered_by.empty()) {
    for (const ClaimId claim : waiting.claims) place.studies.Add(study_of(claim), -1);
  }
  waiting.covered_by.insert(run);
  Refresh(point);
}

void NeedEditor::Uncover(Point point, const std::string& evaluation, RunId run, const StudyOf& study_of) {
  Place* place = Get(point);
  ESPALIER_CHECK(place != nullptr) << "a promise of metrics at step " << point.step.value << " is not indexed";
  Place::Waiting& waiting = place->waiting.at(evaluation);
  waiting.covered_by.erase(run);
  index_.news_.served.insert(run);
  if (waiting.covered_by.empty()) {
    for (const ClaimId claim : waiting.claims) place->studies.Add(study_of(claim), 1);
    if (waiting.claims.empty()) place->waiting.erase(evaluation);
  }
  Refresh(point);
}

}  // namespace espalier
