// The trainer references that the master wants this server to offer, and what has become of each. A reference that can
// be run becomes a runtime that is called as its digest.
//
//   Fetching ──> IsRuntime ──> (dropped, when it is not wanted and idle)
//      │  ^          │ its worker ends without a description
//      v  └─ Away    v
//   Refused <────────┘        asked anew: Fetching
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "protocol/offer.h"
#include "protocol/order.h"
#include "worker/node/core/action.h"
#include "worker/node/core/retry_pause.h"
#include "worker/node/core/runtimes.h"

namespace espalier::node {

class References {
 public:
  // All that is wanted now, and nothing else.
  void Want(const std::vector<WantedReference>& wanted, Actions& actions);
  // True: it is a runtime from now on. Error: kUnavailable when the master is away, then it is tried again; any other
  // refuses it.
  bool OnFetched(Digest128 reference, const Result<void>& fetched, Seconds now);
  // A worker of the runtime has ended, and never described itself. Nothing if it is no reference's.
  void OnNotDescribed(const std::string& runtime, const std::string& why);
  void OnTick(Seconds now, Actions& actions);

  // Somebody wants it, and it is not refused.
  bool Keeps(const std::string& runtime) const;
  // What there is to say of those that are described or refused.
  std::vector<DescribedReference> Described(const Runtimes& runtimes) const;

 private:
  struct Fetching {};
  struct Away {
    Seconds again_at{0};
  };
  struct IsRuntime {};
  struct Refused {
    std::string why;
  };
  struct Reference {
    std::int64_t asked = 0;
    std::variant<Fetching, Away, IsRuntime, Refused> state;
    RetryPause pause = {};
  };

  std::map<Digest128, Reference> references_;
};

}  // namespace espalier::node
