// espalier trial explain TRIAL
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/stage_name.h"
#include "client/cli/trial_life.h"

namespace espalier {
namespace {

std::string StepsText(const Stretch& steps) {
  if (steps.from == steps.to) return "evaluated step " + FormatCount(steps.to);
  return "steps " + FormatCount(steps.from + 1) + " to " + FormatCount(steps.to);
}

std::string TextOf(const LifeMoment& moment) {
  if (!moment.run) {
    std::string text = moment.what;
    if (moment.step > 0) text += (moment.what == "asked" ? " for step " : " at step ") + FormatCount(moment.step);
    return moment.text.empty() ? text : text + ": " + moment.text;
  }
  const v1::ListedRun& run = *moment.run;
  std::string text = "run " + std::to_string(run.run_id()) + " on " + run.server() + "/" + std::to_string(run.slot()) +
                     ": " + StepsText(*moment.trained);
  if (!run.has_held_until()) return text + ", under way";
  return text + ", for " + FormatDuration(SecondsOf(run.held_until()) - moment.at);
}

Json ToJson(const LifeMoment& moment) {
  Json json = Json::Object({{"at", moment.at}, {"what", moment.what}});
  if (moment.step > 0) json.Add("step", moment.step);
  if (!moment.text.empty()) json.Add("text", moment.text);
  if (!moment.run) return json;
  const v1::ListedRun& run = *moment.run;
  json.Add("run", run.run_id());
  json.Add("server", run.server());
  json.Add("slot", run.slot());
  json.Add("from_step", moment.trained->from);
  json.Add("to_step", moment.trained->to);
  json.Add("until", run.has_held_until() ? Json(SecondsOf(run.held_until())) : Json(nullptr));
  return json;
}

void Print(CommandContext& context, const TrialLife& life) {
  if (context.output == OutputFormat::kJson) {
    Json moments = Json::Array();
    for (const LifeMoment& moment : life.moments) moments.Append(ToJson(moment));
    Json waits = nullptr;
    if (life.waits) {
      waits = Json::Object(
          {{"stage", StageName(life.waits->point())}, {"state", life.waits->state()}, {"why", life.waits->why()}});
    }
    return PrintJson(context.out, Json::Object({{"trial", life.trial.trial_id()},
                                                {"study", life.study_id},
                                                {"state", life.trial.state()},
                                                {"moments", std::move(moments)},
                                                {"waits", std::move(waits)}}));
  }
  context.out << "trial " << life.trial.trial_id() << " of study " << life.study_id << " is " << life.trial.state()
              << " at step " << FormatCount(life.trial.steps()) << " of " << FormatCount(life.trial.horizon_steps())
              << '\n';
  const double began = life.moments.empty() ? 0 : life.moments.front().at;
  Table table({"after", "what"});
  for (const LifeMoment& moment : life.moments) table.AddRow({FormatDuration(moment.at - began), TextOf(moment)});
  table.Print(context.out);
  if (!life.waits) return;
  context.out << "now stage " << StageName(life.waits->point()) << " is " << life.waits->state() << ": "
              << life.waits->why() << '\n';
}

int Run(CommandContext& context, std::int64_t trial) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<TrialLife> life = ReadTrialLife(client->connection(), TrialId{trial});
  if (!life.has_value()) return Fail(context, life.error());
  Print(context, *life);
  return kExitDone;
}

}  // namespace

Command TrialExplainCommand(CommandContext& context) {
  const auto id = std::make_shared<std::int64_t>(0);
  Command command{
      .name = "explain",
      .help = "What became of a trial when: what it was asked, which runs trained it where, what it waits for",
      .arguments = {{"TRIAL", id.get(), "its id"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, id] { return Run(context, *id); };
  return command;
}

}  // namespace espalier
