// The calls of clients that have not been answered, and the streams of node managers that have said something: who must
// be told when the loop drops what they asked for. Pure; one thread at a time.
#pragma once

#include <set>
#include <vector>

#include "master/core/effect.h"
#include "master/core/event.h"

namespace espalier::master {

class OpenCalls {
 public:
  // An event was posted, an effect has left.
  void Note(const Event& posted);
  void Note(const Effect& left);

  bool Has(CallId call) const { return calls_.contains(call); }

  // What tells everybody: a Reply with `why` to each call, an EndSession to each stream. None is open from now on.
  std::vector<Effect> Drop(const Error& why);

 private:
  std::set<CallId> calls_;
  std::set<SessionId> sessions_;
};

}  // namespace espalier::master
