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
  const auto set = [&context](const std::string& directory) {
    context.data_directory = directory;
    context.usual_server.clear();
  };
  command.options.push_back({.name = "--data",
                             .target = set,
                             .help = "the data directory (else $ESPALIER_DATA, else ~/.espalier)",
                             .placeholder = "DIR"});
}

namespace {

// Each stands for an environment variable, too: main.cc.
void AddEncryptionOptions(Command& command, Encryption& encryption) {
  const auto add = [&command](std::string name, Target target, std::string help, std::string placeholder) {
    command.options.push_back(
        {.name = std::move(name), .target = target, .help = std::move(help), .placeholder = std::move(placeholder)});
  };
  add("--ca-file", &encryption.ca_file,
      "whose certificates the server may show, in PEM form (else $ESPALIER_CA_FILE, else the system's authorities)",
      "FILE");
  add("--certificate-file", &encryption.certificate_file,
      "your own certificate, for a server that asks for one (else $ESPALIER_CERTIFICATE_FILE)", "FILE");
  add("--key-file", &encryption.key_file, "its private key (else $ESPALIER_KEY_FILE)", "FILE");
  add("--server-name", &encryption.server_name,
      "whom the server's certificate names (else $ESPALIER_SERVER_NAME, else the address's host)", "NAME");
  add("--plaintext", &encryption.plaintext,
      "call a server beyond this machine without encryption (else if $ESPALIER_PLAINTEXT is 1)", "");
}

}  // namespace

void AddServerOptions(Command& command, CommandContext& context) {
  command.options.push_back({.name = "--server",
                             .target = &context.server,
                             .help = "the server's address, unix:PATH or HOST:PORT (else $ESPALIER_SERVER, else that "
                                     "of `espalier up` on this machine)",
                             .placeholder = "ADDRESS"});
  command.options.push_back(
      {.name = "--token-file",
       .target = &context.token_file,
       .help = "a file with the token that says who you are (else $ESPALIER_TOKEN, else that of `espalier up`)",
       .placeholder = "FILE"});
  AddEncryptionOptions(command, context.encryption);
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
