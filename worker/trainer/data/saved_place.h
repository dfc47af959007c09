// The place in an order of the data, in a state: as prefix + "epoch", prefix + "position".
#pragma once

#include <stdexcept>
#include <string>

#include "worker/trainer/state.h"

namespace espalier::trainer {

[[noreturn]] inline void RefusePlace(const std::string& name) {
  throw std::runtime_error("'" + name + "' in the state is no place in this data");
}

// `Order` has epoch(), position() and GoTo(epoch, position), as SampleOrder has.
template <class Order>
void SavePlace(const Order& order, const std::string& prefix, State& state) {
  state[prefix + "epoch"] = WholeNumber(order.epoch());
  state[prefix + "position"] = WholeNumber(order.position());
}

// Throws std::runtime_error, and leaves the order where it is, if there is no such place.
template <class Order>
void LoadPlace(const State& state, const std::string& prefix, Order& order) {
  if (!order.GoTo(ReadWholeNumber(state, prefix + "epoch"), ReadWholeNumber(state, prefix + "position"))) {
    RefusePlace(prefix + "position");
  }
}

}  // namespace espalier::trainer
