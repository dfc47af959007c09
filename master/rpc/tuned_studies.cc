#include "master/rpc/tuned_studies.h"

namespace espalier::master {

TunedStudies::Mark::Mark(TunedStudies& studies, StudyId study) : studies_(studies) {
  const std::lock_guard lock(studies_.mutex_);
  place_ = studies_.marked_.insert(study);
}

TunedStudies::Mark::~Mark() {
  const std::lock_guard lock(studies_.mutex_);
  studies_.marked_.erase(place_);
}

std::set<StudyId> TunedStudies::All() {
  const std::lock_guard lock(mutex_);
  return {marked_.begin(), marked_.end()};
}

}  // namespace espalier::master
