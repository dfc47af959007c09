// The studies whose tuners somebody carries on. Thread-safe.
#pragma once

#include <mutex>
#include <set>

#include "base/ids.h"

namespace espalier::master {

class TunedStudies {
 public:
  // That somebody does, for as long as this exists.
  class Mark {
   public:
    Mark(TunedStudies& studies, StudyId study);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    TunedStudies& studies_;
    std::multiset<StudyId>::iterator place_;
  };

  std::set<StudyId> All();

 private:
  std::mutex mutex_;
  std::multiset<StudyId> marked_;  // once for each who does
};

}  // namespace espalier::master
