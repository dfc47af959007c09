// Parties that share slots by weight, in the order in which they are due: start-time fair queueing (P. Goyal, H. M.
// Vin, H. Cheng, SIGCOMM 1996) over slots that are held for times nobody knows beforehand.
//
// Each party has a *virtual time*: the slot time that it has held so far, over its weight. Who is furthest behind is
// due first; and what a party holds counts for some time in advance, so that slots that are given at one moment are
// dealt out in turns. A party that begins to want something does not come with the time for which it wanted nothing: it
// is put forward to where the party stands that was given a slot last. So nobody saves anything up, and nobody has to
// pay for slots that others had no use for. One that wants what cannot be started for long gains a bounded credit.
//
// Slots are counted in millionths (a run for several parties holds a part for each), times in microseconds since the
// first one. Nothing is stored: after a restart all begin alike. A value. Not thread-safe; owned by the event loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace espalier {

// A slot, as it is counted.
inline constexpr std::int64_t kWholeSlot = 1'000'000;

template <class Key>
class FairQueue {
 public:
  // A slot counts for a minute in advance; and a party is never further behind than an hour of a slot for each unit of
  // its weight.
  static constexpr double kInAdvance = 60e6;
  static constexpr double kCredit = 3600e6;
  // Where a slot must go round, one has it for five minutes more than another for each unit of weight.
  static constexpr double kTurn = 300e6;

  struct Place {
    double at = 0;
    Key key;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  struct Party {
    double weight = 1;
    std::int64_t held = 0;  // millionths of a slot
    bool wants = false;     // something that could be started
    double served = 0;      // virtual time, as of `as_of`
    double as_of = 0;

    double slots() const { return static_cast<double>(held) / kWholeSlot; }
    double share() const { return slots() / weight; }
    double VirtualTime(double now) const { return served + share() * std::max(0.0, now - as_of); }
  };

  // Those that want something, the one that is due first first, as of when each last changed or Advance was called.
  const std::set<Place>& due() const { return due_; }
  // Those that hold something, the one with most of it for its weight first.
  const std::set<Place>& most() const { return most_; }
  // Whether so many slots should be taken from one that has more than its share, for another that wants one: if the one
  // is left with no less for its weight than the other has now, and has not been behind it; where that only turns the
  // tables, if the other has waited for its turn. So what was taken is never taken back at once. O(log parties).
  bool ShouldYield(const Key& rich, int slots, const Key& poor, double now) const {
    constexpr double kEqual = 1e-9;
    const Party& from = parties_.at(rich);
    const Party& to = parties_.at(poor);
    const double left_more = (from.slots() - slots) / from.weight - to.share();
    const double ahead = from.VirtualTime(now) - to.VirtualTime(now);
    return left_more > kEqual ? ahead >= 0 : left_more > -kEqual && ahead >= kTurn;
  }

  // Null: neither weighed nor ever wanting or holding anything.
  const Party* Find(const Key& key) const {
    const auto party = parties_.find(key);
    return party == parties_.end() ? nullptr : &party->second;
  }

  // Each O(log parties). REQUIRES: weight > 0.
  void SetWeight(const Key& key, double weight, double now) {
    Change(key, now, [&](Party& party) { party.weight = weight; });
  }
  // So much more, or less.
  void Hold(const Key& key, std::int64_t part, double now) {
    Change(key, now, [&](Party& party) { party.held += part; });
  }
  void Want(const Key& key, bool wants, double now) {
    Change(key, now, [&](Party& party) {
      if (wants && !party.wants) party.served = std::max(party.served, VirtualTime(now));
      party.wants = wants;
    });
  }
  // The party was given a slot.
  void Gave(const Key& key, double now) {
    Change(key, now, [&](Party& party) { party.served = std::max(party.served, VirtualTime(now) - kCredit); });
    virtual_time_ = VirtualTime(now);
    given_last_ = key;
  }
  // It neither wants nor holds anything, nor will.
  void Forget(const Key& key, double now) {
    virtual_time_ = VirtualTime(now);
    Unlist(key);
    parties_.erase(key);
  }

  // Brings the order up to date. O(parties that hold something x log parties).
  void Advance(double now) {
    const std::set<Place> holding = most_;
    for (const Place& place : holding) Change(place.key, now, [](Party&) {});
  }

 private:
  // Where the party stands that was given a slot last; it never goes back.
  double VirtualTime(double now) const {
    const Party* last = Find(given_last_);
    return last == nullptr ? virtual_time_ : std::max(virtual_time_, last->VirtualTime(now));
  }

  static double DueAt(const Party& party) { return party.served + kInAdvance * party.share(); }

  void Unlist(const Key& key) {
    const auto party = parties_.find(key);
    if (party == parties_.end()) return;
    due_.erase({DueAt(party->second), key});
    most_.erase({-party->second.share(), key});
  }

  template <class Edit>
  void Change(const Key& key, double now, const Edit& edit) {
    Unlist(key);
    Party& party = parties_[key];
    party.served = party.VirtualTime(now);
    party.as_of = now;
    edit(party);
    if (party.wants) due_.insert({DueAt(party), key});
    if (party.held > 0) most_.insert({-party.share(), key});
  }

  std::map<Key, Party> parties_;
  std::set<Place> due_;
  std::set<Place> most_;
  double virtual_time_ = 0;
  Key given_last_{};
};

}  // namespace espalier
