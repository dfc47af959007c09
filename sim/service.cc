#include "sim/service.h"

#include <utility>

namespace espalier::sim {
Service::Service(World& world, const ServiceSettings& settings, Watcher watcher)
    : world_(world),
      watcher_(std::move(watcher)),
      files_(world.clock),
      network_(world),
      master_(world, WatcherOfMaster(), settings.master) {
  Serve();
  for (const SimulatedServer& server : settings.servers) {
    const auto number = static_cast<int>(nodes_.size());
    nodes_.push_back(std::make_unique<NodeProcess>(world_, network_, files_, number, server, watcher_.node));
    nodes_.back()->Install(settings.offers);
  }
}

void Service::Start() {
  master_.Start();
  for (const auto& node : nodes_) node->Start();
}

MasterProcess::Watcher Service::WatcherOfMaster() {
  MasterProcess::Watcher watcher = watcher_.master;
  watcher.released = [this](const master::Effect& effect) {
    watcher_.master.released(effect);
    if (const auto* send = std::get_if<master::SendOrders>(&effect)) network_.ToNode(send->session, send->orders);
    if (const auto* end = std::get_if<master::EndSession>(&effect)) network_.End(end->session);
    if (const auto* analyse = std::get_if<AnalyseCurve>(&effect)) Analyse(analyse->question);
    if (const auto* refuse = std::get_if<master::RefuseServer>(&effect)) network_.End(refuse->session);
  };
  return watcher;
}

// Also to a master that has started again meanwhile, and did not ask.
void Service::Analyse(const CurveQuestion& question) {
  world_.clock.After(world_.chance.About(world_.durations.analyse),
                     [this, answer = AnswerTo(question)] { master_.Post(answer); });
}

void Service::Serve() {
  network_.Serve(
      {.accepts = [this] { return master_.runs(); },
       .on_message =
           [this](master::NodeMessage message) {
             watcher_.arrived(message);
             master_.Post(std::move(message));
           },
       .on_gone = [this](master::SessionId session) { master_.Post(master::NodeGone{.session = session}); }});
}

}  // namespace espalier::sim
