// Whether trials go on from what runs save on the way for them: what is saved is chosen by that
// (master/core/nodes/saves_on_the_way.h).
#pragma once

#include <cstdint>

#include "base/point.h"

namespace espalier {
struct Claim;
struct SearchPlan;
}  // namespace espalier

namespace espalier::master {

struct MasterState;
struct Run;
struct Trial;

// Of a study's trials: how many might have gone on from states that were saved on the way for them, each time, or
// closed without having asked twice; and how many did go on from a state further on than they had asked for.
struct GoingOn {
  std::int64_t might = 0;
  std::int64_t did = 0;
};

// Before its promises are made: the open trials that part where it saves and nobody wants the state yet might go on
// from there. O(open ends where it saves).
void NoteSavesOnTheWay(MasterState& state, const Run& run);

// The trial, which had claimed `before`, claims something further on. O(depth log checkpoints).
void NoteWentOn(MasterState& state, const SearchPlan& plan, const Trial& trial, const Claim& before,
                const Claim& claim);

}  // namespace espalier::master
