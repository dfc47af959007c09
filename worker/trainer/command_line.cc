#include "worker/trainer/command_line.h"

#include <charconv>

namespace espalier::trainer {
namespace {

// Negative if the text is no number.
int ParseFd(const std::string& text) {
  int fd = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  return error == std::errc() && end == text.data() + text.size() ? fd : -1;
}

}  // namespace

Result<std::size_t> ParsePrefetch(const std::string& text, std::size_t otherwise) {
  if (text.empty()) return otherwise;
  std::size_t depth = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), depth);
  if (error == std::errc() && end == text.data() + text.size()) return depth;
  return MakeError(ErrorCode::kInvalidArgument, "expected a whole number of batches, 0 for none, got '" + text + "'",
                   "ESPALIER_PREFETCH");
}

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine line;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& option = arguments[i];
    if (i + 1 == arguments.size()) return MakeError(ErrorCode::kInvalidArgument, "a value is missing", option);
    const std::string& value = arguments[i + 1];
    if (option == "--fd") {
      line.fd = ParseFd(value);
    } else if (option == "--trainer") {
      line.choice.trainers.push_back(value);
    } else if (option == "--data") {
      line.choice.data.push_back(value);
    } else {
      return MakeError(ErrorCode::kInvalidArgument, "there is no such option", option);
    }
  }
  if (line.fd < 0) return MakeError(ErrorCode::kInvalidArgument, "expected the number of a socket", "--fd");
  return line;
}

}  // namespace espalier::trainer
