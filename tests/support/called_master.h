// A master as Ann calls it, whatever it is made of and whatever carries her calls there. For tests. One thread.
#pragma once

#include <map>
#include <string>

#include "master/core/effect.h"
#include "master/core/event.h"
#include "sim/training.h"

namespace espalier::master {

// Whose studies CreateStudy makes.
inline const Caller kAnn{.user = "ann", .team = "team"};

// What every server of these masters offers: the simulated trainer, whose evaluations never go wrong.
inline const Offer kSimulated = sim::OfferOf(1, 0);

class CalledMaster {
 public:
  virtual ~CalledMaster() = default;

  // What the master has in memory.
  virtual const MasterState& state() const = 0;

  // Returns once the call is answered: `last_reply`. Its id is the master's to choose.
  virtual void Ask(ClientCall call) = 0;

  // Ann calls, with the request id "request-NUMBER" if none is given.
  void Call(decltype(ClientCall::what) what, const std::string& request_id = {});

  // REQUIRES of these: the master does not refuse it.
  StudyId CreateStudy(const std::string& name, Scope scope = Scope::kTeam);
  // By the simulated trainer, and its metric.
  StudyId AddStudy(StudySpecification specification);
  // Sequences by name, in the notation.
  TrialId Submit(StudyId study, std::map<std::string, std::string> sequences, std::int64_t steps,
                 std::int64_t horizon = 0);
  void Claim(TrialId trial, std::int64_t steps);
  void Cancel(TrialId trial);
  void Finish(StudyId study);

  // The trial's last. REQUIRES: it has one.
  const espalier::Claim& LastClaim(TrialId trial) const;

  Reply last_reply;

 private:
  std::int64_t next_request_ = 1;
};

}  // namespace espalier::master
