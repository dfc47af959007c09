// Consecutive events of a study as streams bring them: encoded once, for all who are sent them. On the pump's thread.
#pragma once

#include <grpcpp/support/slice.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/study_event.h"

namespace espalier::master {

class EncodedEvents {
 public:
  // In which message they stand, as its field `events`: those of the two calls have different numbers.
  enum class Message { kWatchResponse, kWatchStudiesResponse };

  // `first`: the number of the first. `times`: when each happened.
  EncodedEvents(std::int64_t first, std::vector<StudyEvent> events, std::vector<Time> times)
      : first_(first), events_(std::move(events)), times_(std::move(times)) {}

  std::int64_t first() const { return first_; }
  std::int64_t end() const { return first_ + std::ssize(events_); }
  // The last of them ends the study.
  bool finishes() const { return !events_.empty() && std::holds_alternative<StudyFinished>(events_.back()); }

  // The events from `next` on, as many as have about so many bytes, at least one. Joined with other fields of the
  // message they are that message. The first time that some are asked for as part of such a message, all are encoded;
  // the bytes are shared. REQUIRES: there is one.
  struct Part {
    grpc::Slice bytes;
    std::int64_t end;  // the number of the first that is not among them
  };
  Part From(std::int64_t next, std::size_t bytes, Message message) const;

 private:
  struct Encoded {
    grpc::Slice bytes;
    std::vector<std::size_t> ends;  // of each event's
  };
  const Encoded& As(Message message) const;

  const std::int64_t first_;
  const std::vector<StudyEvent> events_;
  const std::vector<Time> times_;
  mutable std::array<Encoded, 2> encoded_;  // by Message; empty until asked for
};

}  // namespace espalier::master
