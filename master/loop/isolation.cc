#include "master/loop/isolation.h"

#include <utility>

namespace espalier::master {
namespace {

// The message without its reports, then one message for each of them.
std::vector<Event> Split(NodeMessage message) {
  std::vector<Report> reports = std::exchange(message.reports, {});
  std::vector<Event> parts;
  for (Report& report : reports) {
    parts.emplace_back(NodeMessage{.session = message.session,
                                   .arrived = message.arrived,
                                   .reports = {std::move(report)},
                                   .refused_reports = message.refused_reports});
  }
  parts.insert(parts.begin(), std::move(message));
  return parts;
}

}  // namespace

std::vector<Event> Isolation::Parts(Event event, const MasterState& state, Moment now) const {
  if (std::holds_alternative<Tick>(event) && now < no_ticks_until_) return {};
  if (auto* message = std::get_if<NodeMessage>(&event)) {
    if (!refused_.empty()) {
      const auto node = std::get<FromNode>(OriginOf(event, state));
      const auto refused = refused_.find({node.server, node.incarnation});
      if (refused != refused_.end()) {
        message->refused_reports = refused->second.reports;
        if (refused->second.registration) message->registration.reset();
      }
    }
    const bool has_parts = message->reports.size() + (message->registration ? 1 : 0) > 1;
    if (has_parts && IsAlone(now)) return Split(std::move(*message));
  }
  std::vector<Event> parts;
  parts.push_back(std::move(event));
  return parts;
}

std::optional<Origin> Isolation::Failed(const Error& error, const std::optional<Origin>& only, Moment now) {
  if (error.code == ErrorCode::kUnavailable) return std::nullopt;
  const bool again = IsAlone(now) && last_refusal_ == error.code;
  last_refusal_ = error.code;
  alone_until_ = now + alone_for_;
  if (!again || !only) return std::nullopt;
  if (const auto* node = std::get_if<FromNode>(&*only)) Isolate(*node);
  if (*only == Origin(OwnEvent::kTick)) no_ticks_until_ = alone_until_;
  return only;
}

void Isolation::Isolate(const FromNode& node) {
  Refused& refused = refused_[{node.server, node.incarnation}];
  refused.registration |= node.registers;
  refused.reports.insert(node.reports.begin(), node.reports.end());
}

}  // namespace espalier::master
