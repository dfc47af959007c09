// The streams between node managers and master. A stream keeps the order of its messages in each direction; across
// streams anything may overtake anything. A cut loses what is under way, or lets it arrive late. To a node manager the
// newest orders replace those that wait to be sent, as the real master's streams do. One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "master/core/effect.h"
#include "sim/world.h"

namespace espalier::sim {

class Network {
 public:
  struct MasterSide {
    std::function<bool()> accepts;  // whether a stream can be opened now
    std::function<void(master::NodeMessage)> on_message;
    std::function<void(master::SessionId)> on_gone;
  };
  struct NodeSide {
    std::function<void(const ServerOrders&)> on_orders;
    std::function<void()> on_ended;
  };

  explicit Network(World& world) : world_(world) {}

  void Serve(MasterSide side) { master_ = std::move(side); }

  // A stream from this server; `side` hears of it until it has ended or is left.
  master::SessionId Connect(int server, NodeSide side);
  void ToMaster(master::SessionId session, master::NodeMessage message);
  void ToNode(master::SessionId session, const ServerOrders& orders);

  // The node manager died: only the master's side hears of it.
  void Leave(master::SessionId session);
  // The master ends the stream.
  void End(master::SessionId session);
  // The master died.
  void EndAll();

  // Faults, of a server's streams.
  void Cut(int server);
  // No stream lives or is opened for so long.
  void Part(int server, Seconds time);
  void DelayFor(Seconds time, Seconds delay) { delay_until_ = world_.clock.now() + time, delay_ = delay; }
  void RepeatFor(Seconds time) { repeat_until_ = world_.clock.now() + time; }

 private:
  struct Stream {
    int server = 0;
    NodeSide node;
    bool is_open = true;   // not cut, as far as anybody knows
    bool is_lost = false;  // nothing more arrives at the master
    Seconds to_master_at{0};
    Seconds to_node_at{0};
    bool is_writing_orders = false;
    std::optional<ServerOrders> next_orders;
  };

  Seconds Latency();
  // In the order of the direction, of which `at` is the last arrival.
  Seconds DelayAfter(Seconds& at);
  Stream* Find(master::SessionId session);
  void WriteOrders(master::SessionId session, const ServerOrders& orders);
  // Both ends hear of it, each in its time. What is under way to the master may still arrive.
  void Break(master::SessionId session, bool tell_master);

  World& world_;
  MasterSide master_;
  std::map<master::SessionId, Stream> streams_;
  std::int64_t next_session_ = 1;
  std::map<int, Seconds> parted_until_;
  Seconds delay_until_{0};
  Seconds delay_{0};
  Seconds repeat_until_{0};
};

}  // namespace espalier::sim
