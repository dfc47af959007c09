#include "master/rpc/pending_calls.h"

namespace espalier::master {
namespace {

Error Closing() { return {ErrorCode::kUnavailable, "the master is stopping; try again", ""}; }

}  // namespace

PendingCalls::Call PendingCalls::Open() {
  const std::lock_guard lock(mutex_);
  const CallId id{next_++};
  std::promise<Answer> promise;
  Call call{id, promise.get_future()};
  if (closed_) {
    promise.set_value(Closing());
  } else {
    waiting_.emplace(id, std::move(promise));
  }
  return call;
}

Answer PendingCalls::AnswerTo(MasterPort& master, ClientCall asked) {
  while (true) {
    Call call = Open();
    asked.call = call.id;
    master.Post(asked);
    Answer answer = call.answer.get();
    if (!std::holds_alternative<HistoryNeeded>(answer)) return answer;
    if (const Result<void> recalled = recall_(asked); !recalled.has_value()) return recalled.error();
  }
}

void PendingCalls::Resolve(Reply reply) {
  const std::lock_guard lock(mutex_);
  const auto call = waiting_.find(reply.call);
  if (call == waiting_.end()) return;
  call->second.set_value(std::move(reply.answer));
  waiting_.erase(call);
}

void PendingCalls::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& [id, promise] : waiting_) promise.set_value(Closing());
  waiting_.clear();
}

}  // namespace espalier::master
