#include "client/cli/manual.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace espalier {
namespace {

// Text as roff prints it: nothing in it is a request or an escape, and each character is itself when it is copied.
std::string Literal(const std::string& text) {
  static const std::map<char, std::string> kNames = {{'\\', "\\e"},  {'-', "\\-"},   {'~', "\\(ti"},
                                                     {'^', "\\(ha"}, {'`', "\\(ga"}, {'\'', "\\(aq"}};
  std::string literal = text.starts_with('.') ? "\\&" : "";
  for (const char c : text) {
    const auto name = kNames.find(c);
    literal += name == kNames.end() ? std::string(1, c) : name->second;
  }
  return literal;
}

std::string Bold(const std::string& text) { return "\\fB" + Literal(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Literal(text) + "\\fR"; }

bool IsList(const Target& target) { return std::holds_alternative<std::vector<std::string>*>(target); }

std::string Bracketed(const std::string& text, bool optional) { return optional ? "[" + text + "]" : text; }

std::string ValueOf(const Command::Option& option) {
  if (!option.placeholder.empty()) return option.placeholder;
  std::string values;
  for (const std::string& each : option.one_of) values += (values.empty() ? "" : "|") + each;
  if (!values.empty()) return values;
  return std::holds_alternative<std::string*>(option.target) ? "TEXT" : "N";
}

std::string Described(const std::string& term, const std::string& help) {
  return ".TP\n" + term + "\n" + Literal(help) + "\n";
}

std::string Synopsis(const Command& command, const std::string& path) {
  std::string line = Bold(path);
  for (const Command::Argument& argument : command.arguments) {
    line += " " + Bracketed(Italic(argument.name) + (IsList(argument.target) ? " ..." : ""), argument.optional);
  }
  for (const Command::Option& option : command.options) {
    if (option.required) line += " " + Bold(option.name) + " " + Italic(ValueOf(option));
  }
  return line + " [" + Italic("OPTION") + " ...]";
}

// The commands that do something, each with its own heading.
std::string Sections(const Command& command, const std::string& path) {
  std::string text;
  if (command.run) {
    text += ".SS " + path + "\n" + Synopsis(command, path) + "\n.PP\n" + Literal(command.help) + "\n";
    for (const Command::Argument& argument : command.arguments) {
      text += Described(Italic(argument.name), argument.help);
    }
    for (const Command::Option& option : command.options) {
      text += Described(Bold(option.name) + (TakesValue(option) ? " " + Italic(ValueOf(option)) : ""), option.help);
    }
  }
  for (const Command& below : command.commands) text += Sections(below, path + " " + below.name);
  return text;
}

}  // namespace

std::string ManualPage(const Command& program) {
  std::string title = program.name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string text = ".TH " + title + " 1 \"\" \"" + program.name + " " + program.version + "\"\n.SH NAME\n" +
                     program.name + " \\- " + Literal(program.help) + "\n.SH SYNOPSIS\n" + Bold(program.name) + " " +
                     Italic("COMMAND") + " ...\n.SH OPTIONS\nEvery command has \\fB\\-\\-help\\fR.\n";
  for (const Command::Option& option : OptionsOf(program)) text += Described(Bold(option.name), option.help);
  return text + ".SH COMMANDS\n" + Sections(program, program.name);
}

}  // namespace espalier
