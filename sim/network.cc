#include "sim/network.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace espalier::sim {

Seconds Network::Latency() {
  const Seconds usual = world_.chance.About(world_.durations.network);
  const bool late = world_.clock.now() < delay_until_;
  return late ? usual + delay_ * world_.chance.Share() : usual;
}

Seconds Network::DelayAfter(Seconds& at) {
  at = std::max(at, world_.clock.now() + Latency());
  return at - world_.clock.now();
}

Network::Stream* Network::Find(master::SessionId session) {
  const auto stream = streams_.find(session);
  return stream == streams_.end() || !stream->second.is_open ? nullptr : &stream->second;
}

master::SessionId Network::Connect(int server, NodeSide side) {
  const master::SessionId session{next_session_++};
  streams_[session] = {.server = server, .node = std::move(side)};
  const bool is_parted = world_.clock.now() < parted_until_[server];
  if (is_parted || !master_.accepts()) Break(session, false);
  return session;
}

void Network::ToMaster(master::SessionId session, master::NodeMessage message) {
  Stream* stream = Find(session);
  if (stream == nullptr) return;
  message.session = session;
  const Seconds delay = DelayAfter(stream->to_master_at);
  const int times = world_.clock.now() < repeat_until_ ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    world_.clock.After(delay, [this, session, message] {
      const auto known = streams_.find(session);
      if (known == streams_.end()) return;
      // What a cut stream had under way is lost from some message on.
      known->second.is_lost |= !known->second.is_open && world_.chance.OneIn(2);
      if (!known->second.is_lost) master_.on_message(message);
    });
  }
}

void Network::ToNode(master::SessionId session, const ServerOrders& orders) {
  Stream* stream = Find(session);
  if (stream == nullptr) return;
  if (stream->is_writing_orders) {
    stream->next_orders = orders;
    return;
  }
  WriteOrders(session, orders);
}

void Network::WriteOrders(master::SessionId session, const ServerOrders& orders) {
  Stream& stream = streams_.at(session);
  stream.is_writing_orders = true;
  world_.clock.After(DelayAfter(stream.to_node_at), [this, session, orders] {
    Stream* open = Find(session);
    if (open == nullptr) return;
    open->is_writing_orders = false;
    const int times = world_.clock.now() < repeat_until_ ? 2 : 1;
    const auto on_orders = open->node.on_orders;  // the stream may end meanwhile
    for (int i = 0; i < times; ++i) on_orders(orders);
    open = Find(session);
    if (open == nullptr || !open->next_orders) return;
    const ServerOrders next = *std::exchange(open->next_orders, std::nullopt);
    WriteOrders(session, next);
  });
}

void Network::Break(master::SessionId session, bool tell_master) {
  Stream* stream = Find(session);
  if (stream == nullptr) return;
  stream->is_open = false;
  if (stream->node.on_ended) {
    world_.clock.After(Latency(), [ended = stream->node.on_ended] { ended(); });
  }
  if (!tell_master) {
    streams_.erase(session);
    return;
  }
  world_.clock.After(DelayAfter(stream->to_master_at) + Latency(), [this, session] {
    streams_.erase(session);
    master_.on_gone(session);
  });
}

void Network::Leave(master::SessionId session) {
  Stream* stream = Find(session);
  if (stream == nullptr) return;
  stream->node = {};
  Break(session, true);
}

void Network::End(master::SessionId session) { Break(session, true); }

void Network::EndAll() {
  std::vector<master::SessionId> open;
  for (const auto& [session, stream] : streams_) open.push_back(session);
  for (const master::SessionId session : open) Break(session, false);
}

void Network::Cut(int server) {
  std::vector<master::SessionId> open;
  for (const auto& [session, stream] : streams_) {
    if (stream.server == server) open.push_back(session);
  }
  for (const master::SessionId session : open) Break(session, true);
}

void Network::Part(int server, Seconds time) {
  parted_until_[server] = world_.clock.now() + time;
  Cut(server);
}

}  // namespace espalier::sim
