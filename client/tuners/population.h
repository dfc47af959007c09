// PBT, population-based training (M. Jaderberg et al., Population Based Training of Neural Networks, 2017, algorithm
// 1), without waiting for each other: a member that is among the worst where it stands goes on from one of the best,
// with changed hyper-parameters. Here that is a new trial, whose sequences are those of the one it copies up to there:
// what they have in common is trained once.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: steps (of every member), interval (the steps between two looks), quantile (left out: 0.25), resample (left
// out: 0.25). A look at a member: of the n members with a result, by the latest each, it is among the worst if it is
// one of the last min(ceil(quantile x n), the most that are fewer than half of n); equal values rank by the members'
// order. It then copies one of as many best, drawn evenly, where that one was looked at last before its end. Each range
// of numbers and each list is drawn anew with the chance `resample`; else a number is multiplied by 0.8 or 1.2, and
// stays within its bounds; other values stay. One that failed copies whatever its rank; where there is nobody to copy,
// it ends. Error: hyper-parameters that are sequences, conditions, explicit trials.
TunerKind PbtKind();

}  // namespace espalier::tuners
