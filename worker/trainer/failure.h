// Why a request to a worker failed. Not an Error: what went wrong in a training is an outcome that the master acts on.
#pragma once

#include <exception>
#include <string>
#include <tl/expected.hpp>

#include "worker/protocol/worker_message.h"

namespace espalier::trainer {

using worker::FailureKind;

struct Failure {
  FailureKind kind = FailureKind::kTrainer;
  std::string message;
  bool of_library = false;    // the library's own assertion, or the device's error: nothing in this process is certain
  bool state_intact = false;  // the training is as if the request had never been made
  bool worker_unusable = false;  // the device answers nothing any more: this process can train nothing
};

template <class T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> MakeFailure(FailureKind kind, std::string message) {
  return tl::unexpected<Failure>(Failure{.kind = kind, .message = std::move(message)});
}

// What a trainer threw: kOutOfMemory when it says that memory did not suffice, else `otherwise`. Leaves `state_intact`
// to who knows what was called. Of a GPU's error that stays (an illegal access, a failed assertion: all that the
// process asks of it later fails, too) it says that the worker is unusable: it waits for the GPU to find out. REQUIRES:
// not null.
Failure FailureOf(const std::exception_ptr& thrown, FailureKind otherwise);

}  // namespace espalier::trainer
