// The part of the state that concerns one study, copied in turns, so that what is said of the whole study is worked out
// beside the event loop.
#pragma once

#include "master/core/history_store.h"
#include "master/core/views/state_reader.h"

namespace espalier::master {

// A state of: the study with its trials and their claims; of its plans the nodes on its trials' lineages, and what is
// known under them; the runs that trained there or do, with those of the studies they serve that the study's team may
// see (without their definitions); the servers; what its kinds of training cost. All the rest, events and indexes too,
// is missing. Trials that are submitted meanwhile are missing; what is known under a node may be newer than a claim on
// it. Turns: 2 + (trials + nodes + what is known under them) / 500, each O(500 + runs under way + servers). Error: the
// reader's. REQUIRES: the study exists.
Result<MasterState> CopyStudy(const StateReader& read, StudyId study);

// The same of a study that is retired, whose trials, claims and runs the history has; with all events, all that is
// known under the nodes, and what lists of trials and runs go by.
Result<MasterState> CopyRetiredStudy(const StateReader& read, StudyId study, StudyHistory history);

}  // namespace espalier::master
