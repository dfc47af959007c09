#include "master/rpc/node_sessions.h"

#include <utility>

namespace espalier::master {

void NodeSession::Send(v1::SynchronizeResponse response) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_) response.mutable_superseded_files()->MergeFrom(pending_->superseded_files());
    pending_ = std::move(response);
  }
  changed_.notify_all();
}

std::optional<v1::SynchronizeResponse> NodeSession::Next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || pending_; });
  if (closed_) return std::nullopt;
  return std::exchange(pending_, std::nullopt);
}

void NodeSession::Cancel() {
  const std::lock_guard lock(mutex_);
  if (!closed_ && cancel_) std::exchange(cancel_, nullptr)();
}

void NodeSession::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::shared_ptr<NodeSession> NodeSessions::Open(std::function<void()> cancel, SessionId& id) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return nullptr;
  id = SessionId{next_++};
  return sessions_[id] = std::make_shared<NodeSession>(std::move(cancel));
}

void NodeSessions::Close(SessionId id) {
  if (const auto session = Find(id)) session->Close();
  const std::lock_guard lock(mutex_);
  sessions_.erase(id);
}

void NodeSessions::Send(SessionId id, v1::SynchronizeResponse response) {
  if (const auto session = Find(id)) session->Send(std::move(response));
}

void NodeSessions::End(SessionId id) {
  if (const auto session = Find(id)) session->Cancel();
}

void NodeSessions::Stop() {
  std::map<SessionId, std::shared_ptr<NodeSession>> sessions;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    sessions = sessions_;
  }
  for (const auto& [id, session] : sessions) session->Cancel();
}

std::shared_ptr<NodeSession> NodeSessions::Find(SessionId id) {
  const std::lock_guard lock(mutex_);
  const auto session = sessions_.find(id);
  return session == sessions_.end() ? nullptr : session->second;
}

}  // namespace espalier::master
