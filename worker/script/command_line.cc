#include "worker/script/command_line.h"

#include <charconv>
#include <functional>
#include <map>

namespace espalier::script {
namespace {

tl::unexpected<Error> Wrong(const std::string& option, const std::string& what) {
  return MakeError(ErrorCode::kInvalidArgument, what, option);
}

}  // namespace

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine line;
  std::string fd;
  const std::map<std::string, std::function<void(const std::string&)>> options{
      {"--fd", [&](const std::string& value) { fd = value; }},
      {"--pack", [&](const std::string& value) { line.pack = value; }},
      {"--python", [&](const std::string& value) { line.python = value; }},
      {"--archive", [&](const std::string& value) { line.archive = value; }},
      {"--folder", [&](const std::string& value) { line.folder = value; }},
      {"--data", [&](const std::string& value) { line.data.push_back(value); }},
      {"--environment", [&](const std::string& value) { line.environment.push_back(value); }}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].starts_with("--") ? arguments[i].find('=') : std::string::npos;
    const std::string word = arguments[i].substr(0, equals);
    if (word == "--check") {
      line.is_check = true;
    } else if (const auto option = options.find(word); option != options.end()) {
      const bool is_joined = equals != std::string::npos;
      if (!is_joined && i + 1 == arguments.size()) return Wrong(word, "its value is missing");
      option->second(is_joined ? arguments[i].substr(equals + 1) : arguments[++i]);
    } else if (!line.file.empty() || word.starts_with("--")) {
      return Wrong(word, "is no option");
    } else {
      line.file = word;
    }
  }
  if (line.file.empty()) return Wrong("FILE", "is missing");
  const auto [end, wrong] = std::from_chars(fd.data(), fd.data() + fd.size(), line.fd);
  if (!fd.empty() && (wrong != std::errc() || end != fd.data() + fd.size())) return Wrong("--fd", "expected a number");
  if (fd.empty() && !line.is_check && line.pack.empty()) return Wrong("--fd", "is missing, or --check, or --pack");
  return line;
}

}  // namespace espalier::script
