// espalier stage explain NODE@STEP | --run RUN
#include <algorithm>
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/stage_name.h"
#include "client/cli/training_costs.h"

namespace espalier {
namespace {

std::string_view NameOf(v1::WaitsFor what) {
  switch (what) {
    case v1::WAITS_FOR_STAGE:
      return "stage";
    case v1::WAITS_FOR_SLOT:
      return "slot";
    case v1::WAITS_FOR_PAUSE:
      return "pause";
    case v1::WAITS_FOR_RETRY:
      return "retry";
    case v1::WAITS_FOR_CHECK:
      return "check";
    case v1::WAITS_FOR_QUOTA:
      return "quota";
    case v1::WAITS_FOR_OFFER:
      return "offer";
    default:
      return "";
  }
}

Json ToJson(const v1::OtherOffer& offer) {
  Json differences = Json::Array();
  for (const v1::OfferDifference& each : offer.differences()) {
    differences.Append(Json::Object({{"what", each.what()}, {"wanted", each.wanted()}, {"offered", each.offered()}}));
  }
  return Json::Object({{"server", offer.server()}, {"differences", std::move(differences)}});
}

Json WaitsFor(const v1::ExplainStageResponse& stage) {
  if (NameOf(stage.waits_for()).empty()) return nullptr;
  Json waits = Json::Object({{"what", NameOf(stage.waits_for())}});
  if (stage.has_waits_for_stage()) waits.Add("stage", StageName(stage.waits_for_stage()));
  if (stage.has_paths_ahead()) waits.Add("paths_ahead", stage.paths_ahead());
  if (stage.has_paused_until()) waits.Add("until", SecondsOf(stage.paused_until()));
  if (stage.waits_for() != v1::WAITS_FOR_OFFER) return waits;
  Json offers = Json::Array();
  for (const v1::OtherOffer& offer : stage.other_offers()) offers.Append(ToJson(offer));
  waits.Add("other_offers", std::move(offers));
  return waits;
}

Json PlacedOn(const v1::ExplainStageResponse& stage) {
  if (!stage.has_placed_on()) return nullptr;
  const v1::PlacedStage& placed = stage.placed_on();
  return Json::Object({{"server", placed.server()},
                       {"slot", placed.slot()},
                       {"run", placed.run_id() == 0 ? Json(nullptr) : Json(placed.run_id())},
                       {"step", placed.step()},
                       {"training", placed.training()}});
}

Json CheckpointOf(const v1::ExplainStageResponse& stage) {
  if (!stage.has_checkpoint()) return nullptr;
  return Json::Object({{"file", stage.checkpoint().file()},
                       {"bytes", stage.checkpoint().size_bytes()},
                       {"stored_at", SecondsOf(stage.checkpoint().stored_at())}});
}

Json ToJson(const v1::ExplainStageResponse& stage) {
  return Json::Object({{"stage", StageName(stage.point())},
                       {"state", stage.state()},
                       {"why", stage.why()},
                       {"waits_for", WaitsFor(stage)},
                       {"serves", Json::ArrayOf(stage.serves_trial_ids())},
                       {"serves_others", stage.serves_other_count()},
                       {"serves_more", stage.serves_more()},
                       {"placed_on", PlacedOn(stage)},
                       {"checkpoint", CheckpointOf(stage)},
                       {"costs", CostsJson(stage.costs())},
                       {"warnings", Json::ArrayOf(stage.warnings())}});
}

void PrintServed(std::ostream& out, const v1::ExplainStageResponse& stage) {
  constexpr int kShown = 20;
  const int count = stage.serves_trial_ids_size();
  if (count == 0 && stage.serves_other_count() == 0) return;
  out << "for ";
  for (int i = 0; i < std::min(count, kShown); ++i) {
    out << (i == 0 ? (count == 1 ? "trial " : "trials ") : ", ") << stage.serves_trial_ids(i);
  }
  if (count > kShown) out << " and " << count - kShown << " more of yours";
  if (stage.serves_other_count() > 0) {
    out << (count == 0 ? "" : ", and ") << stage.serves_other_count() << " of other teams";
  }
  out << (stage.serves_more() ? ", and more\n" : "\n");
}

void PrintStage(std::ostream& out, const v1::ExplainStageResponse& stage) {
  out << "stage " << StageName(stage.point()) << " is " << stage.state() << ": " << stage.why() << '\n';
  PrintServed(out, stage);
  if (stage.has_checkpoint()) out << "checkpoint of " << FormatBytes(stage.checkpoint().size_bytes()) << '\n';
  if (const std::string costs = CostsText(stage.costs()); !costs.empty()) out << "takes " << costs << '\n';
  for (const std::string& warning : stage.warnings()) out << "warning: " << warning << '\n';
}

int Explain(CommandContext& context, const v1::ExplainStageRequest& request) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::ExplainStageResponse> stage = client->connection().ExplainStage(request);
  if (!stage.has_value()) return Fail(context, stage.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ToJson(*stage));
  } else {
    PrintStage(context.out, *stage);
  }
  return kExitDone;
}

int Run(CommandContext& context, const std::string& name, std::int64_t run) {
  if (name.empty() == (run == 0)) {
    context.err << "espalier: expected a stage, NODE@STEP, or a run, --run RUN\n";
    return kExitUsage;
  }
  v1::ExplainStageRequest request;
  if (run != 0) {
    request.set_run_id(run);
  } else {
    const Result<v1::StagePoint> point = ParseStageName(name);
    if (!point.has_value()) return Fail(context, point.error()), kExitUsage;
    *request.mutable_point() = *point;
  }
  return Explain(context, request);
}

}  // namespace

Command StageExplainCommand(CommandContext& context) {
  const auto stage = std::make_shared<std::string>();
  const auto run = std::make_shared<std::int64_t>(0);
  Command command{
      .name = "explain",
      .help = "How a stage stands, and why: done, running, failed, or what it waits for",
      .arguments = {{.name = "STAGE",
                     .target = stage.get(),
                     .help = "NODE@STEP: a node of `plan show`, and a step that the stage reaches or passes",
                     .optional = true}},
      .options = {{.name = "--run",
                   .target = run.get(),
                   .help = "instead: of the stage that this run trains, or trained last",
                   .placeholder = "RUN",
                   .at_least = 1}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, stage, run] { return Run(context, *stage, *run); };
  return command;
}

}  // namespace espalier
