// How many streams of one kind each user has open: so many, and no more. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace espalier::master {

class StreamPlaces {
 public:
  // One stream's place; given up when the last owner goes.
  using Place = std::shared_ptr<void>;

  // `what`: the streams, as an error names them. `most` of one user.
  StreamPlaces(std::string what, int most) : what_(std::move(what)), most_(most) {}

  // Error: kResourceExhausted when the user has them all. REQUIRES: this outlives the place.
  Result<Place> Take(const std::string& user);

 private:
  const std::string what_;
  const int most_;
  std::mutex mutex_;
  std::map<std::string, int> taken_;  // of users with any
};

}  // namespace espalier::master
