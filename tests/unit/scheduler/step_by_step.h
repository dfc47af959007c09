// What a plan's runs hold and what is left to train, found by going step by step and asking every run: slow, plain, and
// made from the words of the headers alone. The oracle of this folder's property tests.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/stage_tree.h"

namespace espalier {

// The point one step before on the lineage; none at step 1: only Init comes before it.
std::optional<Point> Before(const SearchPlan& plan, Point point);

// Whether the run trains the step that ends at the point.
bool Trains(const RunView& run, Point point);

// Whether the run has an open promise of this kind at the point.
bool Owes(const RunView& run, Point point, Owed owed);

// Of the runs that owe it: the one with the fewest steps to go there, then the smallest id; null if there is none.
const RunView* FirstToOwe(const std::vector<RunView>& runs, Point point, Owed owed);

bool HasState(const SearchPlan& plan, const std::vector<RunView>& runs, Point point);

// Whether a run has promised the very metrics that the claim waits for.
bool IsCovered(const std::vector<RunView>& runs, const Claim& claim);

// The points whose training the claim waits for.
std::set<Point> WorkOf(const SearchPlan& plan, const std::vector<RunView>& runs, const Claim& claim);

// Of all waiting claims.
std::set<Point> AllWork(const SearchPlan& plan, const std::vector<RunView>& runs);

// A stage told without indices.
struct StageFact {
  Point end;
  std::string evaluation;
  Step from;
  std::optional<Point> parent;   // where the parent ends
  std::optional<Source> source;  // without a parent
  bool ready = false;
  std::vector<ClaimId> claims;
  std::vector<TrialId> trials;
  friend bool operator==(const StageFact&, const StageFact&) = default;
};

// All that is to be done, by end and evaluation.
std::vector<StageFact> ExpectedStages(const SearchPlan& plan, const std::vector<RunView>& runs);

// The tree's stages in the same order.
std::vector<StageFact> FactsOf(const StageTree& tree);

// Whether parents stand before their children, and each knows of the other.
bool IsLinkedWell(const StageTree& tree);

}  // namespace espalier
