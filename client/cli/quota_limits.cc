#include "client/cli/quota_limits.h"

#include <cmath>
#include <functional>
#include <ostream>
#include <utility>

#include "client/cli/output.h"
#include "client/study_file/study_values.h"

namespace espalier {
namespace {

constexpr std::pair<const char*, double> kUnits[] = {{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};

Result<double> ParseBytes(const std::string& text, const std::string& option) {
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    std::string number = text.substr(0, text.size() - std::string(unit).size());
    while (number.ends_with(' ')) number.pop_back();
    ESPALIER_ASSIGN(const double count, ParseNumber(number, option));
    return std::round(count * bytes);
  }
  return ParseNumber(text, option);
}

template <class Parse>
Result<void> FillLimit(const std::optional<std::string>& text, const char* option, const Parse& parse,
                       const std::function<v1::Limit*()>& limit) {
  if (!text) return {};
  if (*text == "none") {
    limit()->set_none(true);
    return {};
  }
  ESPALIER_ASSIGN(const double at_most, parse(*text, option));
  limit()->set_at_most(at_most);
  return {};
}

bool IsLimited(const v1::PartyQuota& party) {
  return party.open_trials().has_at_most() || party.plan_nodes().has_at_most() || party.stored_bytes().has_at_most() ||
         party.device_seconds().has_at_most();
}

template <class Format>
std::string TextOf(const v1::Allowance& allowance, const Format& format) {
  const std::string used = format(allowance.used());
  return allowance.has_at_most() ? used + " of " + format(allowance.at_most()) : used;
}

Json ToJson(const v1::Allowance& allowance) {
  return Json::Object(
      {{"used", allowance.used()}, {"at_most", allowance.has_at_most() ? Json(allowance.at_most()) : Json(nullptr)}});
}

}  // namespace

Result<void> Fill(const LimitOptions& options, v1::SetQuotaRequest& request) {
  ESPALIER_RETURN_IF_ERROR(
      FillLimit(options.open_trials, "--open-trials", ParseNumber, [&] { return request.mutable_open_trials(); }));
  ESPALIER_RETURN_IF_ERROR(
      FillLimit(options.plan_nodes, "--plan-nodes", ParseNumber, [&] { return request.mutable_plan_nodes(); }));
  ESPALIER_RETURN_IF_ERROR(
      FillLimit(options.stored_bytes, "--stored-bytes", ParseBytes, [&] { return request.mutable_stored_bytes(); }));
  return FillLimit(options.device_seconds, "--device-seconds", ParseNumber,
                   [&] { return request.mutable_device_seconds(); });
}

void PrintLimits(std::ostream& out, const v1::ListQuotasResponse& quotas) {
  const auto count = [](double number) { return FormatCount(std::llround(number)); };
  const auto bytes = [](double number) { return FormatBytes(std::llround(number)); };
  Table table({"limits of", "open trials", "plan nodes", "stored", "device time today (UTC)"});
  std::string stopped;
  bool is_empty = true;
  for (const v1::PartyQuota& party : quotas.parties()) {
    if (!IsLimited(party)) continue;
    is_empty = false;
    table.AddRow({party.user().empty() ? "team " + party.team() : "user " + party.user(),
                  TextOf(party.open_trials(), count), TextOf(party.plan_nodes(), count),
                  TextOf(party.stored_bytes(), bytes), TextOf(party.device_seconds(), FormatDuration)});
    if (!party.stopped().empty()) stopped += "stopped: " + party.stopped() + "\n";
  }
  if (is_empty) return;
  out << '\n';
  table.Print(out);
  out << stopped;
}

Json QuotasInJson(const v1::ListQuotasResponse& quotas) {
  Json parties = Json::Array();
  for (const v1::PartyQuota& party : quotas.parties()) {
    parties.Append(Json::Object({{"team", party.team()},
                                 {"user", party.user().empty() ? Json(nullptr) : Json(party.user())},
                                 {"open_trials", ToJson(party.open_trials())},
                                 {"plan_nodes", ToJson(party.plan_nodes())},
                                 {"stored_bytes", ToJson(party.stored_bytes())},
                                 {"device_seconds", ToJson(party.device_seconds())},
                                 {"stopped", party.stopped().empty() ? Json(nullptr) : Json(party.stopped())}}));
  }
  return parties;
}

}  // namespace espalier
