// Calls that wait for their answer from the event loop. Thread-safe.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>

#include "master/core/effect.h"
#include "master/rpc/master_port.h"

namespace espalier::master {

class PendingCalls {
 public:
  // Puts into a call what it needs of a retired study. Waits.
  using Recall = std::function<Result<void>(ClientCall& call)>;
  explicit PendingCalls(Recall recall) : recall_(std::move(recall)) {}

  struct Call {
    CallId id;
    std::future<Answer> answer;
  };

  Call Open();

  // Posts the call under a new id and waits for its answer. Error: the answer, if it is one. REQUIRES: a call of this
  // kind is answered by a T.
  template <class T>
  Result<T> Ask(MasterPort& master, ClientCall asked) {
    Answer answer = AnswerTo(master, std::move(asked));
    if (const auto* error = std::get_if<Error>(&answer)) return tl::unexpected<Error>(*error);
    return std::get<T>(std::move(answer));
  }

  // A reply to a call that nobody knows is dropped.
  void Resolve(Reply reply);

  // Answers every waiting call, and each later one at once, with kUnavailable.
  void Close();

 private:
  Answer AnswerTo(MasterPort& master, ClientCall asked);

  const Recall recall_;
  std::mutex mutex_;
  std::int64_t next_ = 1;
  bool closed_ = false;
  std::map<CallId, std::promise<Answer>> waiting_;
};

}  // namespace espalier::master
