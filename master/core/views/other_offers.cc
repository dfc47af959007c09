#include "master/core/views/other_offers.h"

#include <algorithm>
#include <optional>

#include "base/digest.h"

namespace espalier::master {
namespace {

constexpr std::size_t kDigestShown = 12;
constexpr std::size_t kOffersShown = 5;
constexpr const char* kDeviceKind = "device kind";

std::vector<OtherOffer::Difference> DifferencesOf(const Offer& offer, const std::string& device_kind,
                                                  const PlanIdentity& wanted, const std::string& evaluation) {
  std::vector<OtherOffer::Difference> differences;
  const auto compare = [&](const char* what, const std::string& is_wanted, const std::string& is_offered) {
    if (is_wanted != is_offered) differences.push_back({what, is_wanted, is_offered});
  };
  const TrainingIdentity& training = wanted.training;
  compare("code", training.code_digest, offer.code_digest);
  if (training.data != offer.data) {
    compare("data", training.data, offer.data);
  } else {
    compare("data", training.data_digest, offer.data_digest);
  }
  compare("schema", ToHex(DigestOf(training.schema)), ToHex(DigestOf(offer.schema)));
  if (!evaluation.empty()) compare("evaluation", evaluation, offer.evaluation_digest);
  compare(kDeviceKind, wanted.device_kind, device_kind);
  return differences;
}

// Of a digest the beginning tells which it is. Device kinds begin alike: they are shown whole.
std::string Shown(const std::string& what, const std::string& text) {
  if (text.empty()) return "none";
  return what != kDeviceKind && text.size() > kDigestShown ? text.substr(0, kDigestShown) + "..." : text;
}

bool OffersIt(const MasterState& state, const Server& server, const SearchPlan& plan, const std::string& evaluation) {
  const OfferMade* made = OfferOf(server, plan.trainer, plan.identity.device_kind);
  if (!server.session || made == nullptr) return false;
  return evaluation.empty() || state.offers.at(made->offer).offer.evaluation_digest == evaluation;
}

}  // namespace

std::vector<OtherOffer> OtherOffers(const MasterState& state, const SearchPlan& plan, const std::string& evaluation) {
  std::vector<OtherOffer> others;
  for (const auto& [name, server] : state.servers) {
    if (!server.session) continue;
    std::optional<OtherOffer> nearest;
    for (const auto& [trainer, made] : server.offers) {
      const Offer& offer = state.offers.at(made.offer).offer;
      if (offer.trainer != plan.identity.training.trainer) continue;
      OtherOffer other{name, DifferencesOf(offer, made.device_kind, plan.identity, evaluation)};
      if (!nearest || other.differences.size() < nearest->differences.size()) nearest = std::move(other);
    }
    if (nearest && !nearest->differences.empty()) others.push_back(std::move(*nearest));
  }
  return others;
}

bool IsOffered(const MasterState& state, const SearchPlan& plan, const std::string& evaluation) {
  return std::any_of(state.servers.begin(), state.servers.end(),
                     [&](const auto& entry) { return OffersIt(state, entry.second, plan, evaluation); });
}

std::set<std::string> TakingServers(const MasterState& state, const SearchPlan& plan, const std::string& evaluation) {
  std::set<std::string> taking;
  for (const auto& [name, server] : state.servers) {
    if (!IsDraining(state, server) && OffersIt(state, server, plan, evaluation)) taking.insert(name);
  }
  return taking;
}

std::set<std::string> DrainingOffers(const MasterState& state, const SearchPlan& plan, const std::string& evaluation) {
  std::set<std::string> draining;
  for (const auto& [name, server] : state.servers) {
    if (!OffersIt(state, server, plan, evaluation)) continue;
    if (!IsDraining(state, server)) return {};
    draining.insert(name);
  }
  return draining;
}

std::string Print(const std::vector<OtherOffer>& offers, const std::string& trainer) {
  std::string text;
  for (std::size_t i = 0; i < std::min(offers.size(), kOffersShown); ++i) {
    text += (i == 0 ? "" : "; ") + offers[i].server + " offers " + trainer;
    for (std::size_t j = 0; j < offers[i].differences.size(); ++j) {
      const auto& [what, wanted, offered] = offers[i].differences[j];
      text += (j == 0 ? " with other " : " and ") + what + " (" + Shown(what, offered) + ", not " +
              Shown(what, wanted) + ")";
    }
  }
  if (offers.size() > kOffersShown) text += "; and " + std::to_string(offers.size() - kOffersShown) + " servers more";
  return text;
}

}  // namespace espalier::master
