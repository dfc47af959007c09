#include "client/cli/did_you_mean.h"

#include <algorithm>
#include <string_view>

#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

template <class Named>
const Named* FindNamed(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// REQUIRES: there are some.
template <class Named>
std::string Unknown(const std::string& kind, const std::string& name, const std::vector<Named>& all) {
  constexpr std::size_t kEditsMax = 2;
  std::vector<std::string_view> names;
  std::string list;
  for (const Named& each : all) {
    names.push_back(each.name);
    list += (list.empty() ? "" : ", ") + each.name;
  }
  const std::string_view nearest = NearestName(name, names);
  const std::size_t letters = name.size() - std::min(name.size(), name.find_first_not_of('-'));
  const std::size_t edits = EditCount(name, nearest);
  const bool is_near = edits <= kEditsMax && edits < letters;
  return "no " + kind + " " + Shortened(name) +
         (is_near ? ", did you mean " + std::string(nearest) + "?" : "; expected one of: " + list);
}

}  // namespace

std::optional<std::string> Mistyped(const Command& program, const std::vector<std::string>& arguments) {
  const Command* command = &program;
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (word.starts_with("--")) {
      const std::vector<Command::Option> options = OptionsOf(*command);
      const std::string name = word.substr(0, word.find('='));
      if (FindNamed(options, name) == nullptr) return Unknown("option", name, options);
    } else if (!command->commands.empty() && word != "-h") {
      const Command* below = FindNamed(command->commands, word);
      if (below == nullptr) return Unknown("command", word, command->commands);
      command = below;
    }
  }
  return std::nullopt;
}

}  // namespace espalier
