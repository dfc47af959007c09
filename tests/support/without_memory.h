// What a policy decides must not depend on its memory: after a restart it has none.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <utility>

#include "tests/support/simulated_service.h"

namespace espalier::master {

// Lets the same happen to two services, until nothing is left to do: the policy of one keeps its memory, that of the
// other begins anew with each event. Checks that all is the same in the end; gives the first.
template <class Happens>
std::unique_ptr<SimulatedService> CheckSameWithoutMemory(SimulatedSettings settings, const Happens& happens) {
  std::array<std::unique_ptr<SimulatedService>, 2> services;
  for (const bool forgets : {false, true}) {
    settings.policy_forgets = forgets;
    auto& service = services[forgets ? 1 : 0] = std::make_unique<SimulatedService>(settings);
    happens(*service);
    service->RunToRest();
  }
  CHECK((services[0]->state() == services[1]->state()));
  return std::move(services[0]);
}

}  // namespace espalier::master
