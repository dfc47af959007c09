#include "client/cli/command_context.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

namespace espalier {

void AddOutputOption(Command& command, CommandContext& context, const std::vector<OutputFormat>& more) {
  std::vector<OutputFormat> formats{OutputFormat::kText, OutputFormat::kJson};
  formats.insert(formats.end(), more.begin(), more.end());
  std::vector<std::string> names;
  std::string placeholder;
  for (const OutputFormat format : formats) {
    names.emplace_back(Name(format));
    placeholder += (placeholder.empty() ? "" : "|") + names.back();
  }
  const bool has_dot = std::find(formats.begin(), formats.end(), OutputFormat::kDot) != formats.end();
  const auto set = [&context, formats](const std::string& name) {
    context.output =
        *std::find_if(formats.begin(), formats.end(), [&](OutputFormat each) { return Name(each) == name; });
  };
  command.options.push_back({.name = "--output",
                             .target = set,
                             .help = has_dot ? "text for people, one JSON document, or a graph for Graphviz's dot"
                                             : "text for people, or one JSON document",
                             .placeholder = placeholder,
                             .one_of = names});
}

void AddDataOption(Command& command, CommandContext& context) {
  command.options.push_back({.name = "--data",
                             .target = &context.data_directory,
                             .help = "the data directory (else $ESPALIER_DATA, else ~/.espalier)",
                             .placeholder = "DIR"});
}

void AddServerOptions(Command& command, CommandContext& context) {
  command.options.push_back(
      {.name = "--server",
       .target = &context.server,
       .help = "the server's address, unix:PATH or HOST:PORT (else that of `espalier up` on this machine)",
       .placeholder = "ADDRESS"});
  command.options.push_back(
      {.name = "--token-file",
       .target = &context.token_file,
       .help = "a file with the token that says who you are (else $ESPALIER_TOKEN, else that of `espalier up`)",
       .placeholder = "FILE"});
  AddDataOption(command, context);
}

void MakeAboutStudy(Command& command, CommandContext& context, std::function<int(const std::string&)> run,
                    const std::vector<OutputFormat>& more) {
  const auto id_or_name = std::make_shared<std::string>();
  command.arguments.push_back({"STUDY", id_or_name.get(), "its id, or its name (the newest of that name)"});
  AddServerOptions(command, context);
  AddOutputOption(command, context, more);
  command.run = [id_or_name, run = std::move(run)] { return run(*id_or_name); };
}

int Fail(CommandContext& context, const Error& error) {
  context.err << "espalier: ";
  if (!error.field.empty()) context.err << error.field << ": ";
  context.err << error.message << '\n';
  return error.code == ErrorCode::kUnavailable ? kExitUnreachable : kExitRefused;
}

std::string AddressFile(const std::string& data_directory) { return data_directory + "/address"; }

}  // namespace espalier
