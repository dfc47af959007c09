// espalier trainer list
#include <CLI/CLI.hpp>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "proto/convert_schema.h"

namespace espalier {
namespace {

Json ToJson(const Value& value) {
  return std::visit([](const auto& plain) { return Json(plain); }, value);
}

Json ToJson(const v1::TrainerDescription& trainer, const Schema& schema) {
  Json hyper_parameters = Json::array();
  for (const HyperParameter& hyper_parameter : schema.hyper_parameters) {
    hyper_parameters.push_back({{"name", hyper_parameter.name},
                                {"type", Name(hyper_parameter.type)},
                                {"default", ToJson(hyper_parameter.default_value)},
                                {"initial", hyper_parameter.initial}});
  }
  return {{"name", trainer.name()},
          {"data", trainer.data()},
          {"hyper_parameters", std::move(hyper_parameters)},
          {"takes_any", schema.takes_any},
          {"metrics", std::vector<std::string>(trainer.metrics().begin(), trainer.metrics().end())}};
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
  Json trainers = Json::array();
  for (const v1::TrainerDescription& trainer : response->trainers()) {
    const Result<Schema> schema = SchemaOf(trainer);
    if (!schema.has_value()) return Fail(context, schema.error());
    if (context.output == OutputFormat::kJson) {
      trainers.push_back(ToJson(trainer, *schema));
    } else {
      PrintTrainer(context.out, trainer, *schema);
    }
  }
  if (context.output == OutputFormat::kJson) PrintJson(context.out, trainers);
  return kExitDone;
}

}  // namespace

void RegisterTrainerList(CLI::App& trainer, CommandContext& context) {
  CLI::App& command = *trainer.add_subcommand("list", "The trainers, their hyper-parameters and metrics");
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  OnCommand(command, context, [&context] { return Run(context); });
}

}  // namespace espalier
