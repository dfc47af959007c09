#include "client/cli/command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

namespace espalier {

void OnCommand(CLI::App& command, CommandContext& context, std::function<int()> action) {
  command.callback([&context, action = std::move(action)] { context.chosen = action; });
}

void OnStudyCommand(CLI::App& command, CommandContext& context, std::function<int(const std::string&)> action) {
  const auto id_or_name = std::make_shared<std::string>();
  command.add_option("STUDY", *id_or_name, "its id, or its name (the newest of that name)")
      ->required()
      ->option_text(" ");
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  OnCommand(command, context, [id_or_name, action = std::move(action)] { return action(*id_or_name); });
}

void AddOutputOption(CLI::App& command, CommandContext& context) {
  command
      .add_option_function<std::string>(
          "--output",
          [&context](const std::string& format) {
            context.output = format == "json" ? OutputFormat::kJson : OutputFormat::kText;
          },
          "text for people, or one JSON document")
      ->check(CLI::IsMember({"text", "json"}))
      ->option_text("text|json");
}

void AddDataOption(CLI::App& command, CommandContext& context) {
  command.add_option("--data", context.data_directory, "the data directory (else $ESPALIER_DATA, else ~/.espalier)")
      ->option_text("DIR");
}

void AddServerOptions(CLI::App& command, CommandContext& context) {
  command
      .add_option("--server", context.server,
                  "the server's address, unix:PATH or HOST:PORT (else that of `espalier up` on this machine)")
      ->option_text("ADDRESS");
  command
      .add_option("--token-file", context.token_file,
                  "a file with the token that says who you are (else $ESPALIER_TOKEN, else that of `espalier up`)")
      ->option_text("FILE");
  AddDataOption(command, context);
}

int Fail(CommandContext& context, const Error& error) {
  context.err << "espalier: ";
  if (!error.field.empty()) context.err << error.field << ": ";
  context.err << error.message << '\n';
  if (error.code != ErrorCode::kUnavailable) return kExitRefused;
  context.err << "start one with: espalier up\n";
  return kExitUnreachable;
}

std::string AddressFile(const std::string& data_directory) { return data_directory + "/address"; }

}  // namespace espalier
