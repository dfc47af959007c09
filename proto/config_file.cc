#include "proto/config_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <fstream>
#include <iterator>

namespace espalier {
namespace {

// Keeps the first complaint of the parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": " + message;
  }
  std::string text;
};

}  // namespace

Result<void> ReadConfigFile(const std::filesystem::path& file, google::protobuf::Message& config) {
  std::ifstream stream(file);
  if (!stream) return MakeError(ErrorCode::kNotFound, "cannot read the configuration file " + file.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  google::protobuf::TextFormat::Parser parser;
  FirstError first_error;
  parser.RecordErrorsTo(&first_error);
  if (parser.ParseFromString(text, &config)) return {};
  return MakeError(ErrorCode::kInvalidArgument, file.string() + ": " + first_error.text);
}

Result<void> RequireText(const std::string& value, std::string field) {
  if (!value.empty()) return {};
  return MakeError(ErrorCode::kInvalidArgument, "is required", std::move(field));
}

}  // namespace espalier
