// The open streams to node managers. A session's writer thread sends the newest desired state; older ones that were not
// sent yet are replaced, but for the files that they said are superseded. Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "espalier/v1/node_manager.pb.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

class NodeSession {
 public:
  // `cancel` breaks the stream; called at most once, while the session is open.
  explicit NodeSession(std::function<void()> cancel) : cancel_(std::move(cancel)) {}

  void Send(v1::SynchronizeResponse response);

  // The next response to write; nothing once the session is closed.
  std::optional<v1::SynchronizeResponse> Next();

  // Breaks the stream, if it is still open.
  void Cancel();

  // The stream is over.
  void Close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> cancel_;
  std::optional<v1::SynchronizeResponse> pending_;
  bool closed_ = false;
};

class NodeSessions {
 public:
  // Null once stopped.
  std::shared_ptr<NodeSession> Open(std::function<void()> cancel, SessionId& id);
  void Close(SessionId id);

  // Nothing if the session is over.
  void Send(SessionId id, v1::SynchronizeResponse response);
  void End(SessionId id);

  // Ends all, and opens none from now on.
  void Stop();

 private:
  std::shared_ptr<NodeSession> Find(SessionId id);

  std::mutex mutex_;
  std::int64_t next_ = 1;
  bool stopped_ = false;
  std::map<SessionId, std::shared_ptr<NodeSession>> sessions_;
};

}  // namespace espalier::master
