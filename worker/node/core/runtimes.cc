#include "worker/node/core/runtimes.h"

#include <algorithm>

#include "base/check.h"

namespace espalier::node {

Runtimes::Runtimes(const std::vector<std::string>& names) {
  for (const std::string& name : names) runtimes_.push_back({.name = name, .description = {}, .offers = {}});
}

const Runtimes::Runtime& Runtimes::Get(const std::string& name) const {
  const auto found =
      std::find_if(runtimes_.begin(), runtimes_.end(), [&](const auto& each) { return each.name == name; });
  ESPALIER_CHECK(found != runtimes_.end()) << "there is no runtime " << name;
  return *found;
}

void Runtimes::OnDescribed(const std::string& name, const Description& description) {
  for (Runtime& runtime : runtimes_) {
    if (runtime.name != name) continue;
    runtime.is_tried = true;
    runtime.description = description;
    runtime.offers.clear();
    for (const Offer& offer : description.offers) runtime.offers.insert(DigestOf(offer));
  }
  ListOffers();
}

void Runtimes::Add(const std::string& name) {
  if (std::ranges::any_of(runtimes_, [&](const Runtime& each) { return each.name == name; })) return;
  runtimes_.push_back({.name = name, .description = {}, .offers = {}, .is_own = false});
}

void Runtimes::Remove(const std::string& name) {
  std::erase_if(runtimes_, [&](const Runtime& each) { return each.name == name; });
}

void Runtimes::OnNotDescribed(const std::string& name) {
  for (Runtime& runtime : runtimes_) runtime.is_tried |= runtime.name == name;
}

const Runtimes::Runtime* Runtimes::Offering(Digest128 offer) const {
  const auto found =
      std::find_if(runtimes_.begin(), runtimes_.end(), [&](const auto& each) { return each.offers.contains(offer); });
  return found == runtimes_.end() ? nullptr : &*found;
}

bool Runtimes::are_known() const {
  return std::ranges::all_of(runtimes_, [](const auto& each) { return each.is_tried || !each.is_own; }) &&
         std::ranges::any_of(runtimes_, [](const auto& each) { return each.description.has_value() && each.is_own; });
}

void Runtimes::ListOffers() {
  offers_.clear();
  std::set<Digest128> trainers;
  for (const Runtime& runtime : runtimes_) {
    if (!runtime.description.has_value() || !runtime.is_own) continue;
    for (const Offer& offer : runtime.description->offers) {
      if (trainers.insert(TrainerDigest(offer)).second) offers_.push_back({offer, runtime.description->device_kind});
    }
  }
}

}  // namespace espalier::node
