// espalier plan show STUDY [--plot FILE.svg] [--output text|json|dot]
#include <fstream>
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/plan_dot.h"
#include "client/cli/plan_layout.h"
#include "client/cli/plan_svg.h"
#include "client/cli/server_access.h"
#include "client/cli/training_costs.h"

namespace espalier {
namespace {

Json ToJson(const v1::PlacedStage& placed) {
  return Json::Object({{"run", placed.run_id() == 0 ? Json(nullptr) : Json(placed.run_id())},
                       {"server", placed.server()},
                       {"slot", placed.slot()}});
}

Json ToJson(const v1::StageView& stage) {
  return Json::Object({{"from", stage.from_step()},
                       {"to", stage.to_step()},
                       {"state", stage.state()},
                       {"placed_on", stage.has_placed_on() ? ToJson(stage.placed_on()) : Json(nullptr)}});
}

Json ToJson(const v1::PlanNode& node) {
  Json stages = Json::Array();
  for (const v1::StageView& stage : node.stages()) stages.Append(ToJson(stage));
  Json claims = Json::Array();
  for (const v1::PlanClaims& each : node.claims()) {
    claims.Append(Json::Object({{"step", each.step()}, {"state", each.state()}, {"count", each.count()}}));
  }
  return Json::Object({{"id", node.plan_node_id()},
                       {"parent", node.parent_id() == 0 ? Json(nullptr) : Json(node.parent_id())},
                       {"start", node.start_step()},
                       {"trials", node.trial_count()},
                       {"functions", Json::Sorted(node.functions())},
                       {"stages", std::move(stages)},
                       {"checkpoints", Json::ArrayOf(node.checkpoint_steps())},
                       {"claims", std::move(claims)},
                       {"costs", CostsJson(node.costs())}});
}

std::string StagesText(const v1::PlanNode& node) {
  std::string text;
  for (const v1::StageView& stage : node.stages()) {
    text += (text.empty() ? "" : ", ") + stage.state() + " " + std::to_string(stage.from_step()) + "-" +
            std::to_string(stage.to_step());
  }
  return text.empty() ? "nothing claimed" : text;
}

// The lines that lead to a node: of its ancestors, then its own branch.
std::string TreeLines(const PlanLayout& layout, const PlacedNode& node) {
  if (node.parent < 0) return "";
  std::string lines = node.last_of_parent ? "└─ " : "├─ ";
  for (int ancestor = node.parent; layout.nodes[static_cast<std::size_t>(ancestor)].parent >= 0;
       ancestor = layout.nodes[static_cast<std::size_t>(ancestor)].parent) {
    lines = (layout.nodes[static_cast<std::size_t>(ancestor)].last_of_parent ? "   " : "│  ") + lines;
  }
  return lines;
}

void PrintTree(std::ostream& out, const PlanLayout& layout) {
  for (const PlacedNode& node : layout.nodes) {
    out << TreeLines(layout, node) << "node " << node.node->plan_node_id() << " from " << node.node->start_step()
        << ": " << FunctionsText(*node.node) << "  [" << StagesText(*node.node) << "; " << node.node->trial_count()
        << (node.node->trial_count() == 1 ? " trial" : " trials") << "]\n";
  }
}

int Run(CommandContext& context, const std::string& id_or_name, const std::string& plot) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::StudySummary> study = FindStudy(client->connection(), id_or_name);
  if (!study.has_value()) return Fail(context, study.error());
  v1::GetPlanRequest request;
  request.set_study_id(study->study_id());
  const Result<v1::GetPlanResponse> plan = client->connection().GetPlan(request);
  if (!plan.has_value()) return Fail(context, plan.error());
  const PlanLayout layout = LayOut(*plan);
  const std::string title = study->name() + ": " + FormatCount(TrialCount(study->trials_by_state())) +
                            " trials, merge rate " + FormatNumber(study->merge_rate());
  if (!plot.empty()) {
    std::ofstream file(plot);
    file << PlanSvg(layout, title);
    if (!file.flush()) return Fail(context, Error{ErrorCode::kInternal, "cannot write " + plot, "--plot"});
    context.err << "wrote " << plot << '\n';
  }
  Json nodes = Json::Array();
  switch (context.output) {
    case OutputFormat::kText:
      PrintTree(context.out, layout);
      break;
    case OutputFormat::kJson:
      for (const PlacedNode& node : layout.nodes) nodes.Append(ToJson(*node.node));
      PrintJson(context.out, nodes);
      break;
    case OutputFormat::kDot:
      context.out << PlanDot(MakeStageGraph(*plan), title);
      break;
  }
  return kExitDone;
}

}  // namespace

Command PlanShowCommand(CommandContext& context) {
  const auto plot = std::make_shared<std::string>();
  Command command{
      .name = "show",
      .help = "A study's part of the search plan: the tree of what is trained, running, waiting and planned",
      .options = {{"--plot", plot.get(), "draw it into this file, too", "FILE.svg"}}};
  MakeAboutStudy(command, context,
                 [&context, plot](const std::string& id_or_name) { return Run(context, id_or_name, *plot); },
                 {OutputFormat::kDot});
  return command;
}

}  // namespace espalier
