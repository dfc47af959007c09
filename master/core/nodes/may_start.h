// Who may begin what, and where slots are idle for it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "master/core/draft.h"
#include "master/core/state/demand.h"

namespace espalier::master {

// By server; null: nobody did.
const std::map<std::string, Refusal>* RefusalsOf(const MasterState& state, const StageBeginning& beginning);

// A stage is not ordered while a failure pauses it, nor again on the one server on which it crashed, if another can
// begin it; nor where it was refused lately. O(log), and where it crashed O(servers x devices).
bool MayStart(const Draft& draft, const Server& server, const SearchPlan& plan, const StageBeginning& beginning,
              const Demand& demand);

// Whether a server with an idle slot offers the trainer on such a device, whatever it evaluates by. O(log kinds).
bool HasIdleSlot(const MasterState& state, const OfferKind& kind);

// The servers with idle slots that offer what a kind asks for, whatever they evaluate by if that is left open.
class IdleServers {
 public:
  IdleServers(const MasterState& state, OfferKind kind) : state_(state), kind_(std::move(kind)) {}

  bool none() const { return !Matches(state_.index.idle_servers.lower_bound(kind_)); }

  // The first that satisfies the predicate; null if none does. O(servers that do not).
  template <class Predicate>
  const Server* First(const Predicate& may) const {
    for (auto it = state_.index.idle_servers.lower_bound(kind_); Matches(it); ++it) {
      for (const std::string& name : it->second) {
        const Server& server = state_.servers.at(name);
        if (may(server)) return &server;
      }
    }
    return nullptr;
  }

 private:
  bool Matches(decltype(Indexes::idle_servers)::const_iterator it) const {
    if (it == state_.index.idle_servers.end()) return false;
    const OfferKind& offered = it->first;
    return offered.trainer == kind_.trainer && offered.device_kind == kind_.device_kind &&
           (kind_.evaluation.empty() || offered.evaluation == kind_.evaluation);
  }

  const MasterState& state_;
  const OfferKind kind_;
};

}  // namespace espalier::master
