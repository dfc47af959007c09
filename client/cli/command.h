// A command of the command line as a value: its name, what it takes, and what it does. A noun is a command that has
// others below it. Commands know nothing of the library that parses: command.cc alone does.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace espalier {

enum ExitCode : int {
  kExitDone = 0,
  kExitRefused = 1,      // refused or failed
  kExitUsage = 2,        // wrong usage, or a wrong file
  kExitUnreachable = 3,  // no server answers
};

// Where what the user gives is put: a list takes several values, a function is called with each one, and what is a
// boolean is given without a value. REQUIRES: it lives as long as the command; what `run` captures does.
using Target = std::variant<bool*, std::string*, std::optional<std::string>*, std::optional<int>*, std::int64_t*,
                            std::size_t*, std::vector<std::string>*, std::function<void(const std::string&)>>;

struct Command {
  // What is given by its place; an optional one comes last.
  struct Argument {
    std::string name;
    Target target;
    std::string help;
    bool optional = false;
  };

  struct Option {
    std::string name;  // "--limit"
    Target target;
    std::string help;
    std::string placeholder{};  // what help shows for the value; empty: its type and what it has to be
    bool required = false;
    std::vector<std::string> one_of{};       // the values that are taken; empty: all
    std::optional<std::int64_t> at_least{};  // of a number
    std::optional<std::int64_t> at_most{};   // REQUIRES: at_least
    std::string needs{};                     // another option, declared before, without which this one means nothing
    bool one_value_each = false;             // of a list: `--set A --set B`, not `--set A B`
  };

  std::string name;
  std::string help;
  std::vector<Argument> arguments{};
  std::vector<Option> options{};
  std::function<int()> run{};  // gives back an ExitCode; empty: one of `commands` has to follow
  std::vector<Command> commands{};
  std::string version{};  // what --version prints; empty: there is no such option
};

// The command's options with those that every command has: what help shows.
std::vector<Command::Option> OptionsOf(const Command& command);

// False: the option is given without a value.
bool TakesValue(const Command::Option& option);

// Parses the arguments (without the program's name), fills the targets and runs what they choose. Prints help on `out`,
// what is wrong on `err`, of a mistyped name what was probably meant. Gives back the ExitCode.
int RunChosen(const Command& program, const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace espalier
