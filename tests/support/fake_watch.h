// One watch of a fake master's stream of several studies: which of its study's events come next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "espalier/v1/study.pb.h"
#include "tests/support/fake_study.h"

namespace espalier::testing {

struct FakeWatch {
  std::int64_t study = 0;
  std::size_t next = 0;       // index of the next event
  bool is_elsewhere = false;  // it knows of other events
  bool is_answered = false;

  // What it is to be sent, one to three events at a time; false: nothing. `watched` null: there is no such study.
  bool Next(const FakeStudy* watched, v1::WatchStudiesResponse& response) {
    if (watched == nullptr) {
      response.mutable_ended()->set_status(5);  // gRPC's NOT_FOUND
      response.mutable_ended()->set_message("no such study");
      return true;
    }
    if (is_elsewhere) {
      response.mutable_ended()->set_status(9);  // gRPC's FAILED_PRECONDITION
      response.mutable_ended()->set_message("no such event");
      return true;
    }
    const std::size_t end = std::min(watched->events().size(), next + 1 + next % 3);
    while (next < end) *response.add_events() = watched->events()[next++];
    if (!response.events().empty() && response.events().rbegin()->has_study_finished()) response.mutable_ended();
    return !std::exchange(is_answered, true) || !response.events().empty();
  }
};

}  // namespace espalier::testing
