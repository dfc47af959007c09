#include "master/loop/origin.h"

namespace espalier::master {
namespace {

FromNode OriginOf(const NodeMessage& message, const MasterState& state) {
  FromNode origin{.registers = message.registration.has_value()};
  if (message.registration) {
    origin.server = message.registration->server;
    origin.incarnation = message.registration->incarnation;
  }
  for (const auto& [name, server] : state.servers) {
    if (message.registration || server.session != message.session) continue;
    origin.server = name;
    origin.incarnation = server.incarnation;
  }
  for (const Report& report : message.reports) origin.reports.push_back(report.number);
  return origin;
}

struct Finder {
  const MasterState& state;

  Origin operator()(const ClientCall& call) const { return call.call; }
  Origin operator()(const NodeMessage& message) const { return OriginOf(message, state); }
  Origin operator()(const NodeGone&) const { return OwnEvent::kNodeGone; }
  Origin operator()(const Tick&) const { return OwnEvent::kTick; }
  Origin operator()(const Recovered&) const { return OwnEvent::kRecovered; }
  Origin operator()(const CurveAnalysed&) const { return OwnEvent::kCurveAnalysed; }
};

struct Printer {
  std::string operator()(CallId call) const { return "call " + std::to_string(call.value); }
  std::string operator()(const FromNode& node) const {
    std::string text = "server " + node.server + (node.registers ? " registration" : "");
    if (!node.reports.empty()) text += " reports";
    for (const std::int64_t number : node.reports) text += " " + std::to_string(number);
    return text;
  }
  std::string operator()(OwnEvent event) const {
    switch (event) {
      case OwnEvent::kTick:
        return "tick";
      case OwnEvent::kNodeGone:
        return "end of a stream";
      case OwnEvent::kRecovered:
        return "recovery";
      case OwnEvent::kCurveAnalysed:
        return "analysis of a curve";
    }
    return "";
  }
};

}  // namespace

Origin OriginOf(const Event& event, const MasterState& state) { return std::visit(Finder{state}, event); }

std::optional<CallId> CallOf(const Event& event) {
  const auto* call = std::get_if<ClientCall>(&event);
  return call == nullptr ? std::nullopt : std::optional(call->call);
}

std::string Print(const Origin& origin) { return std::visit(Printer{}, origin); }

}  // namespace espalier::master
