#include "master/loop/open_calls.h"

#include <utility>

#include "master/loop/origin.h"

namespace espalier::master {

void OpenCalls::Note(const Event& posted) {
  if (const auto call = CallOf(posted)) calls_.insert(*call);
  if (const auto* message = std::get_if<NodeMessage>(&posted)) sessions_.insert(message->session);
  if (const auto* gone = std::get_if<NodeGone>(&posted)) sessions_.erase(gone->session);
}

void OpenCalls::Note(const Effect& left) {
  if (const auto* reply = std::get_if<Reply>(&left)) calls_.erase(reply->call);
  if (const auto* end = std::get_if<EndSession>(&left)) sessions_.erase(end->session);
}

std::vector<Effect> OpenCalls::Drop(const Error& why) {
  std::vector<Effect> told;
  for (const CallId call : std::exchange(calls_, {})) told.emplace_back(Reply{call, why});
  for (const SessionId session : std::exchange(sessions_, {})) {
    told.emplace_back(EndSession{session, "the master recovers: register again"});
  }
  return told;
}

}  // namespace espalier::master
