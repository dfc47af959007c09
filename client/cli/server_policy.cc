// espalier server policy [NAME]
#include <memory>
#include <optional>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"

namespace espalier {
namespace {

struct Options {
  std::optional<std::string> name;
};

void PrintPolicy(CommandContext& context, const v1::GetPolicyResponse& response) {
  if (context.output == OutputFormat::kJson) {
    Json policies = Json::Array();
    for (const v1::KnownPolicy& known : response.policies()) {
      policies.Append(Json::Object({{"name", known.name()}, {"summary", known.summary()}}));
    }
    const bool is_chosen = response.has_chosen_at();
    return PrintJson(context.out,
                     Json::Object({{"policy", response.policy()},
                                   {"chosen_by", is_chosen ? Json(response.chosen_by()) : Json(nullptr)},
                                   {"chosen_at", is_chosen ? Json(SecondsOf(response.chosen_at())) : Json(nullptr)},
                                   {"policies", std::move(policies)}}));
  }
  Table table({"", "policy", "what it does"});
  for (const v1::KnownPolicy& known : response.policies()) {
    table.AddRow({known.name() == response.policy() ? "*" : "", known.name(), known.summary()});
  }
  table.Print(context.out);
  context.out << "* decides" << (response.has_chosen_at() ? ", chosen by " + response.chosen_by() : "") << '\n';
}

int Run(CommandContext& context, const Options& options) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  if (options.name) {
    v1::SetPolicyRequest request;
    request.set_request_id(NewRequestId());
    request.set_policy(*options.name);
    const Result<v1::SetPolicyResponse> chosen = client->connection().SetPolicy(request);
    if (!chosen.has_value()) return Fail(context, chosen.error());
  }
  const Result<v1::GetPolicyResponse> response = client->connection().GetPolicy({});
  if (!response.has_value()) return Fail(context, response.error());
  PrintPolicy(context, *response);
  return kExitDone;
}

}  // namespace

Command ServerPolicyCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "policy",
      .help = "Which policy decides what is trained first; with NAME: from now on that one (for administrators)",
      .arguments = {{"NAME", &options->name, "one of those that it lists without NAME", true}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
