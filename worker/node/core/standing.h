// A training that a run has left in its worker, whole: the next run may go on with it, where that saves Init or Load
// and changes no bit.
#pragma once

#include <string>

#include "base/digest.h"
#include "protocol/order.h"
#include "worker/node/core/worker_words.h"

namespace espalier::node {

struct Standing {
  Digest128 offer;
  StepMeaning step;
  Values at_init;
  Values in_force;       // of all others that were ever set
  std::string file;      // whose state it is, by its name in the store; empty: nobody's that was saved
  bool reloads = false;  // the worker can Load into it
};

// How a run begins in its worker.
enum class Beginning {
  kInit,    // Init; where there is a start, Setup and Load
  kReload,  // Proceed, Setup and Load
  kGoOn,    // Proceed: the training stands at the start
};

// The shortest beginning of the order that gives the same bits as kInit.
Beginning BeginningOf(const Order& order, const Values& at_init, const Standing& standing);

}  // namespace espalier::node
