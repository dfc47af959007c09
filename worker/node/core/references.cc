#include "worker/node/core/references.h"

#include <algorithm>

namespace espalier::node {

void References::Want(const std::vector<WantedReference>& wanted, Actions& actions) {
  std::map<Digest128, Reference> now_wanted;
  for (const WantedReference& each : wanted) {
    const auto known = references_.find(each.reference);
    Reference reference = known == references_.end() ? Reference{} : known->second;
    const bool is_anew = reference.asked != each.asked && std::holds_alternative<Refused>(reference.state);
    reference.asked = each.asked;
    if (is_anew) reference.state = Fetching{};
    if (is_anew || known == references_.end()) actions.push_back(FetchReference{each.reference});
    now_wanted.emplace(each.reference, std::move(reference));
  }
  references_ = std::move(now_wanted);
}

bool References::OnFetched(Digest128 digest, const Result<void>& fetched, Seconds now) {
  const auto known = references_.find(digest);
  if (known == references_.end() || !std::holds_alternative<Fetching>(known->second.state)) return false;
  Reference& reference = known->second;
  if (fetched.has_value()) {
    reference.state = IsRuntime{};
    reference.pause = {};
  } else if (fetched.error().code == ErrorCode::kUnavailable) {
    reference.state = Away{now + reference.pause.Next()};
  } else {
    reference.state = Refused{fetched.error().message};
  }
  return fetched.has_value();
}

void References::OnNotDescribed(const std::string& runtime, const std::string& why) {
  for (auto& [digest, reference] : references_) {
    if (std::holds_alternative<IsRuntime>(reference.state) && ToHex(digest) == runtime) reference.state = Refused{why};
  }
}

void References::OnTick(Seconds now, Actions& actions) {
  for (auto& [digest, reference] : references_) {
    const auto* away = std::get_if<Away>(&reference.state);
    if (away == nullptr || now < away->again_at) continue;
    reference.state = Fetching{};
    actions.push_back(FetchReference{digest});
  }
}

bool References::Keeps(const std::string& runtime) const {
  return std::any_of(references_.begin(), references_.end(), [&](const auto& item) {
    return !std::holds_alternative<Refused>(item.second.state) && ToHex(item.first) == runtime;
  });
}

std::vector<DescribedReference> References::Described(const Runtimes& runtimes) const {
  std::vector<DescribedReference> described;
  for (const auto& [digest, reference] : references_) {
    DescribedReference said{digest, reference.asked, {}, {}};
    if (const auto* refused = std::get_if<Refused>(&reference.state)) {
      said.refused = refused->why;
    } else if (std::holds_alternative<IsRuntime>(reference.state)) {
      const std::optional<Description>& description = runtimes.Get(ToHex(digest)).description;
      if (!description.has_value()) continue;
      for (const Offer& offer : description->offers) said.offers.push_back({offer, description->device_kind});
    } else {
      continue;
    }
    described.push_back(std::move(said));
  }
  return described;
}

}  // namespace espalier::node
