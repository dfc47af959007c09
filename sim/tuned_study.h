// One study of a simulated service that is left to a tuner, by the driver that real users have, or whose user asks at
// his own times: it comes at its time, and its tuner's host may be killed. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/study_event.h"
#include "client/tuners/driver.h"
#include "client/tuners/tuner.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "sim/world.h"

namespace espalier::sim {

// A new one, not started, always of the same trials and options.
using TunerMaker = std::function<std::unique_ptr<tuners::Tuner>()>;

// What a study's user asked for by himself: trials, and ids of trials, count as submitted, from 1.
struct TimedBatch {
  Seconds at{0};  // since the study came
  master::SubmitBatch batch;
};

struct StudyToSimulate {
  master::StudySpecification specification;
  TunerMaker make_tuner;                        // none: its user asks
  std::vector<TimedBatch> batches = {};         // then; in order of time
  std::optional<Seconds> cancelled_after = {};  // by its user, since it came
  Seconds arrives_at{0};
  std::string team = "team";
  // The tuner's host is killed when it has read so many of the study's events: what it knows and has on the way is
  // lost, and five seconds later another host reads them from the first.
  std::set<std::size_t> host_killed_after = {};
};

class TunedStudy {
 public:
  // `number`: from 0, of the studies of one service, which have a user each. `post`: a call
  // that has reached the master. REQUIRES: the world outlives it.
  TunedStudy(World& world, StudyToSimulate study, std::int64_t number, std::function<void(master::Event)> post);

  // What is to be done is put on the clock.
  void Begin();

  // Whether the reply is to a call of this study.
  bool Asked(const master::Reply& reply) const;
  // REQUIRES: Asked.
  void OnReply(const master::Reply& reply);
  // REQUIRES: they are this study's.
  void OnEvents(const std::vector<StudyEvent>& events);

  StudyId id() const { return id_; }  // StudyId{}: it was not created yet
  // As the master refused the study or a trial of it, or as an evaluation failed.
  const std::optional<Error>& error() const { return error_; }
  std::optional<Seconds> finished_at() const { return finished_at_; }
  Seconds arrived_at() const { return study_.arrives_at; }
  // All of them, in order.
  const std::vector<StudyEvent>& events() const { return events_; }

 private:
  void Call(std::int64_t call, const std::string& request_id, decltype(master::ClientCall::what) what);
  void Create();
  void OnEvent(const StudyEvent& event);
  void StartHost();
  void KillHost();
  void SubmitAll();
  Error InWhole(const master::Reply& reply, Error error) const;
  // The user's batch of that place.
  void SubmitTimed(std::size_t place);
  void Cancel();

  World& world_;
  const StudyToSimulate study_;
  const std::int64_t number_;
  const std::function<void(master::Event)> post_;
  std::unique_ptr<tuners::Tuner> tuner_;
  std::optional<tuners::Driver> driver_;  // none: the host was killed
  std::int64_t killed_hosts_ = 0;
  std::int64_t calls_ = 0;                          // but for the one that creates it
  std::map<std::int64_t, std::vector<Batch>> cut_;  // batches in several calls, by the first of these
  std::vector<StudyEvent> events_;
  std::vector<TrialId> trials_;  // as submitted
  StudyId id_;
  bool is_cancelled_ = false;  // from here on nothing more is asked
  std::optional<Error> error_;
  std::optional<Seconds> finished_at_;
};

}  // namespace espalier::sim
