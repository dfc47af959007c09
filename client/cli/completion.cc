#include "client/cli/completion.h"

#include <algorithm>
#include <string_view>

#include "base/shell_words.h"

namespace espalier {
namespace {

// A place in the command line, and what may stand there.
struct Place {
  std::string after;                 // the commands chosen before: "espalier study list"
  std::string value_of{};            // the option that takes it; empty: what stands there is none's value
  std::vector<std::string> words{};  // in the order of help
  std::vector<std::string> helps{};  // of each word; of the values of an option none has any
  bool is_file = false;              // or a folder
};

bool NamesFile(const std::string& placeholder) {
  return placeholder.find("FILE") != std::string::npos || placeholder == "DIR";
}

void AddPlaces(const Command& command, const std::string& after, std::vector<Place>& places) {
  Place place{.after = after};
  const auto add = [&place](const std::string& word, const std::string& help) {
    place.words.push_back(word);
    place.helps.push_back(help);
  };
  for (const Command& below : command.commands) add(below.name, below.help);
  for (const Command::Option& option : OptionsOf(command)) {
    add(option.name, option.help);
    if (!TakesValue(option)) continue;
    places.push_back(
        {.after = after, .value_of = option.name, .words = option.one_of, .is_file = NamesFile(option.placeholder)});
  }
  place.is_file = std::any_of(command.arguments.begin(), command.arguments.end(),
                              [](const Command::Argument& argument) { return NamesFile(argument.name); });
  places.push_back(std::move(place));
  for (const Command& below : command.commands) AddPlaces(below, after + " " + below.name, places);
}

std::vector<Place> PlacesOf(const Command& program) {
  std::vector<Place> places;
  AddPlaces(program, program.name, places);
  return places;
}

std::string Joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(between)) + part;
  return text;
}

// As fish reads a word: unlike other shells it knows two escapes within single quotes.
std::string FishWord(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// What chooses a command, as patterns of `case` and words of fish's `contains`: 'espalier study' and the others.
std::string Choices(const std::vector<Place>& places, std::string_view between) {
  std::vector<std::string> choices;
  for (const Place& place : places) {
    if (place.value_of.empty() && place.after.find(' ') != std::string::npos) choices.push_back(ShellWord(place.after));
  }
  return Joined(choices, between);
}

// The branches of `case` for the values of options, or for all else.
template <class Assignments>
std::string Branches(const std::vector<Place>& places, bool of_values, const Assignments& assignments) {
  std::string text;
  for (const Place& place : places) {
    if (place.value_of.empty() == of_values) continue;
    const std::string pattern = of_values ? place.after + " " + place.value_of : place.after;
    text += "    (" + ShellWord(pattern) + ") " + assignments(place) + (place.is_file ? " files=yes" : "") + " ;;\n";
  }
  return text;
}

}  // namespace

std::string BashCompletion(const Command& program) {
  const std::vector<Place> places = PlacesOf(program);
  const auto words = [](const Place& place) { return "words=" + ShellWord(Joined(place.words, " ")); };
  const std::string function = "_" + program.name;
  return function + R"bash(() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words='' files='' i
  if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $word == = ]]; then word=; fi
  local chosen=)bash" +
         program.name + R"bash(
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$chosen ${COMP_WORDS[i]}" in
    ()bash" +
         Choices(places, "|") + R"bash() chosen+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$chosen $previous" in
)bash" + Branches(places, true, words) +
         R"bash(    (*)
    case "$chosen" in
)bash" + Branches(places, false, words) +
         R"bash(    esac ;;
  esac
  if [[ $files && $word != -* ]]; then
    compopt -o default 2>/dev/null
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}
complete -F )bash" +
         function + " " + program.name + "\n";
}

std::string ZshCompletion(const Command& program) {
  const std::vector<Place> places = PlacesOf(program);
  const auto choices = [](const Place& place) {
    std::string text = "choices=(";
    for (std::size_t i = 0; i < place.words.size(); ++i) {
      text += (i == 0 ? "" : " ") + ShellWord(place.words[i] + (place.helps.empty() ? "" : ":" + place.helps[i]));
    }
    return text + ")";
  };
  const std::string function = "_" + program.name;
  return "#compdef " + program.name + "\n" + function + R"zsh(() {
  local chosen=)zsh" +
         program.name + R"zsh( word=${words[CURRENT]} previous=${words[CURRENT-1]} files= i
  local -a choices
  if [[ $word == --*=* ]]; then previous=${word%%=*} word=${word#*=}; compset -P '*='; fi
  for ((i = 2; i < CURRENT; ++i)); do
    case "$chosen ${words[i]}" in
    ()zsh" +
         Choices(places, "|") + R"zsh() chosen+=" ${words[i]}" ;;
    esac
  done
  case "$chosen $previous" in
)zsh" + Branches(places, true, choices) +
         R"zsh(    (*)
    case "$chosen" in
)zsh" + Branches(places, false, choices) +
         R"zsh(    esac ;;
  esac
  if [[ -n $files && $word != -* ]]; then _files; else _describe )zsh" +
         program.name + R"zsh( choices; fi
}
if [[ $funcstack[1] == )zsh" +
         function + " ]]; then " + function + " \"$@\"; else compdef " + function + " " + program.name + "; fi\n";
}

std::string FishCompletion(const Command& program) {
  const std::vector<Place> places = PlacesOf(program);
  const std::string function = "__" + program.name + "_at";
  std::string text = "function " + function + "\n  set -l chosen " + program.name +
                     "\n  for word in (commandline -opc)[2..]\n    if contains -- \"$chosen $word\" " +
                     Choices(places, " ") +
                     "\n      set chosen \"$chosen $word\"\n    end\n  end\n"
                     "  test \"$chosen\" = \"$argv\"\nend\ncomplete -c " +
                     program.name + " -f\n";
  for (const Place& place : places) {
    const std::string head = "complete -c " + program.name + " -n " + ShellWord(function + " " + place.after);
    if (place.is_file && place.value_of.empty()) text += head + " -F\n";
    for (std::size_t i = 0; i < place.helps.size(); ++i) {
      const std::string& word = place.words[i];
      const auto value = std::find_if(places.begin(), places.end(), [&](const Place& each) {
        return each.after == place.after && each.value_of == word;
      });
      text += head + (word.starts_with("--") ? " -l " + word.substr(2) : " -a " + word);
      if (value != places.end()) text += value->is_file ? " -r -F" : " -x";
      if (value != places.end() && !value->words.empty()) text += " -a " + FishWord(Joined(value->words, " "));
      text += " -d " + FishWord(place.helps[i]) + "\n";
    }
  }
  return text;
}

}  // namespace espalier
