// The tuner host: carries studies on whose clients are gone, each by replaying its events to a fresh tuner and going on
// from there. A study is anybody's client's first: the host takes one up when no stream of its events says that it
// tunes, and what two submit at once counts once. A study that it cannot carry on - another version of the tuner, a
// batch that is refused - it leaves alone, and says so; one whose team or user has come to a quota, for half a minute.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "client/connection.h"
#include "client/event_reader.h"

namespace espalier {

class TunerHost {
 public:
  // `say`: a line about a study, from any thread. REQUIRES: the connection outlives it.
  TunerHost(Connection& connection, std::function<void(const std::string&)> say)
      : connection_(connection), say_(std::move(say)) {}
  ~TunerHost();

  // Until Stop. Error: the token is no tuner host's.
  Result<void> Run();

  // From any thread.
  void Stop();

 private:
  // One study, on a thread of its own.
  struct Carried {
    explicit Carried(StudyPort& port, StudyId study) : id(study), reader(port, study, true) {}
    const StudyId id;
    EventReader reader;
    bool over = false;
    std::thread thread;
  };

  // The next study to carry on, and its definition; none that is new: empty.
  Result<v1::FindStudyResponse> Find();
  void Begin(StudyId study, const std::string& definition);
  void Carry(Carried& carried, const std::string& definition);
  // Joins the threads of studies that are over.
  void Tidy();

  Connection& connection_;
  const std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::list<Carried> carried_;       // the lists' elements: of the thread of Run
  std::map<StudyId, Seconds> left_;  // that it cannot carry on, until when (MonotonicNow)
};

}  // namespace espalier
