// espalier trainer list
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "proto/convert_schema.h"

namespace espalier {
namespace {

Json TrainerJson(const v1::TrainerDescription& trainer, const Schema& schema) {
  Json hyper_parameters = Json::Array();
  for (const HyperParameter& hyper_parameter : schema.hyper_parameters) {
    hyper_parameters.Append(Json::Object({{"name", hyper_parameter.name},
                                          {"type", Name(hyper_parameter.type)},
                                          {"default", ToJson(hyper_parameter.default_value)},
                                          {"initial", hyper_parameter.initial}}));
  }
  return Json::Object({{"name", trainer.name()},
                       {"data", trainer.data()},
                       {"hyper_parameters", std::move(hyper_parameters)},
                       {"takes_any", schema.takes_any},
                       {"metrics", Json::ArrayOf(trainer.metrics())}});
}

void PrintTrainer(std::ostream& out, const v1::TrainerDescription& trainer, const Schema& schema) {
  out << trainer.name() << (trainer.data().empty() ? "" : " on " + trainer.data()) << "; metrics:";
  for (const std::string& metric : trainer.metrics()) out << ' ' << metric;
  out << '\n';
  Table table({"  hyper-parameter", "type", "default", "may change"});
  for (const HyperParameter& hyper_parameter : schema.hyper_parameters) {
    table.AddRow({"  " + hyper_parameter.name, std::string(Name(hyper_parameter.type)),
                  Print(hyper_parameter.default_value), hyper_parameter.initial ? "no" : "at any step"});
  }
  table.Print(out);
  if (schema.takes_any) out << "  and any others, of the types that a study's values have\n";
}

int Run(CommandContext& context) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::ListTrainersResponse> response = client->connection().ListTrainers({});
  if (!response.has_value()) return Fail(context, response.error());
  Json trainers = Json::Array();
  for (const v1::TrainerDescription& trainer : response->trainers()) {
    const Result<Schema> schema = SchemaOf(trainer);
    if (!schema.has_value()) return Fail(context, schema.error());
    if (context.output == OutputFormat::kJson) {
      trainers.Append(TrainerJson(trainer, *schema));
    } else {
      PrintTrainer(context.out, trainer, *schema);
    }
  }
  if (context.output == OutputFormat::kJson) PrintJson(context.out, trainers);
  return kExitDone;
}

}  // namespace

Command TrainerListCommand(CommandContext& context) {
  Command command{.name = "list", .help = "The trainers, their hyper-parameters and metrics"};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context] { return Run(context); };
  return command;
}

}  // namespace espalier
