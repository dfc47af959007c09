#include "client/cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <type_traits>

#include "client/cli/did_you_mean.h"

namespace espalier {
namespace {

constexpr const char* kHelp = "--help";
constexpr const char* kHelpOfHelp = "Print this help and exit";
constexpr const char* kVersion = "--version";
constexpr const char* kHelpOfVersion = "Print the version and exit";

CLI::Option& Add(CLI::App& app, const std::string& name, const Target& target, const std::string& help) {
  return *std::visit(
      [&](const auto& to) {
        if constexpr (std::is_same_v<std::decay_t<decltype(to)>, bool*>) {
          return app.add_flag(name, *to, help);
        } else if constexpr (std::is_pointer_v<std::decay_t<decltype(to)>>) {
          return app.add_option(name, *to, help);
        } else {
          return app.add_option_function<std::string>(name, to, help);
        }
      },
      target);
}

void AddArgument(CLI::App& app, const Command::Argument& argument) {
  const bool list = std::holds_alternative<std::vector<std::string>*>(argument.target);
  Add(app, argument.name, argument.target, argument.help).required(!argument.optional)->option_text(list ? "..." : " ");
}

CLI::Validator Within(std::int64_t least, std::optional<std::int64_t> most) {
  const CLI::Range range(least, most.value_or(std::numeric_limits<std::int64_t>::max()));
  const std::string expected = "; expected a whole number from " + std::to_string(least) +
                               (most.has_value() ? " to " + std::to_string(*most) : " on");
  return CLI::Validator(
      [range, expected](std::string& text) { return range(text).empty() ? "" : "got " + text + expected; },
      least > 0 ? "POSITIVE" : "NONNEGATIVE");
}

void AddOption(CLI::App& app, const Command::Option& option) {
  CLI::Option& added = Add(app, option.name, option.target, option.help);
  added.required(option.required)->option_text(option.placeholder);
  if (!option.one_of.empty()) added.check(CLI::IsMember(option.one_of));
  if (option.at_least.has_value()) added.check(Within(*option.at_least, option.at_most));
  if (!option.needs.empty()) added.needs(app.get_option(option.needs));
  if (option.one_value_each) added.allow_extra_args(false);
}

// Makes `app` the command, with all that is below it; parsing points `chosen` at what the user chose.
void Declare(CLI::App& app, const Command& command, const Command*& chosen) {
  app.set_help_flag(std::string("-h,") + kHelp, kHelpOfHelp);
  if (!command.version.empty()) app.set_version_flag(kVersion, command.name + " " + command.version, kHelpOfVersion);
  for (const Command::Argument& argument : command.arguments) AddArgument(app, argument);
  for (const Command::Option& option : command.options) AddOption(app, option);
  if (command.run) {
    app.callback([&command, &chosen] { chosen = &command; });
  } else {
    app.require_subcommand(1);
  }
  for (const Command& below : command.commands) Declare(*app.add_subcommand(below.name, below.help), below, chosen);
}

}  // namespace

std::vector<Command::Option> OptionsOf(const Command& command) {
  std::vector<Command::Option> options = command.options;
  options.push_back({.name = kHelp, .target = static_cast<bool*>(nullptr), .help = kHelpOfHelp});
  if (!command.version.empty()) {
    options.push_back({.name = kVersion, .target = static_cast<bool*>(nullptr), .help = kHelpOfVersion});
  }
  return options;
}

bool TakesValue(const Command::Option& option) { return !std::holds_alternative<bool*>(option.target); }

int RunChosen(const Command& program, const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CLI::App app(program.help, program.name);
  const Command* chosen = nullptr;
  Declare(app, program, chosen);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 wants them
  } catch (const CLI::ParseError& error) {
    const bool is_asked_for = error.get_exit_code() == 0;  // help, and the version
    const std::optional<std::string> mistyped = is_asked_for ? std::nullopt : Mistyped(program, arguments);
    if (!mistyped) return app.exit(error, out, err) == 0 ? kExitDone : kExitUsage;
    err << program.name << ": " << *mistyped << "\nRun with --help for more information.\n";
    return kExitUsage;
  }
  return chosen->run();
}

}  // namespace espalier
