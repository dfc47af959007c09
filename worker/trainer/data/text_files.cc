#include "worker/trainer/data/text_files.h"

#include <algorithm>

#include "worker/trainer/data/line_batches.h"
#include "worker/trainer/data/text_batches.h"

namespace espalier::trainer {
namespace {

const std::string kTextVersion = "text-2";
const std::string kLinesVersion = "lines-1";
constexpr std::string_view kTextEnding = ".txt";

Result<std::shared_ptr<const FileBytes>> ReadText(const std::filesystem::path& file) {
  ESPALIER_ASSIGN(std::shared_ptr<const FileBytes> text, FileBytes::Open(file));
  if (text->bytes().size() < 2) return Malformed(file, "it is too short: expected a text of at least two bytes");
  return text;
}

Result<OpenBatches> ReadTexts(const Paths& training, const std::filesystem::path& validation) {
  Texts texts;
  ESPALIER_ASSIGN(texts.first, ReadText(training[0]));
  if (training.size() > 1) {
    ESPALIER_ASSIGN(texts.second, ReadText(training[1]));
  }
  ESPALIER_ASSIGN(texts.validation, ReadText(validation));
  return [texts](std::uint64_t seed) { return MakeTextBatches(texts, seed); };
}

// "CLASS" of CLASS.txt and CLASS.txt.gz; empty for other files.
std::string ClassOfText(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(kTextEnding) ? name.substr(0, name.size() - kTextEnding.size()) : "";
}

// Sorted; none if there is no such folder.
Paths FindTextsIn(const std::filesystem::path& part) {
  std::error_code error;
  Paths found;
  for (const auto& entry : std::filesystem::directory_iterator(part, error)) {
    if (entry.is_regular_file() && !ClassOfText(entry.path()).empty()) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

void AddLines(std::string_view text, std::int64_t label, std::vector<LabeledLine>& lines) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back({line, label});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Result<std::vector<LabeledLine>> ReadLines(const Paths& files, const std::vector<std::string>& classes,
                                           LabeledLines& data) {
  std::vector<LabeledLine> lines;
  for (const std::filesystem::path& file : files) {
    const auto it = std::ranges::find(classes, ClassOfText(file));
    if (it == classes.end()) return Malformed(file, "there is no class '" + ClassOfText(file) + "' for training");
    ESPALIER_ASSIGN(const std::shared_ptr<const FileBytes> text, FileBytes::Open(file));
    AddLines(text->bytes(), it - classes.begin(), lines);
    data.files.push_back(text);
  }
  if (lines.empty()) return Malformed(files.front(), "neither it nor its neighbours have a line; expected samples");
  return lines;
}

Result<OpenBatches> ReadLabeledLines(const Paths& training, const Paths& validation) {
  std::vector<std::string> classes;
  std::ranges::transform(training, std::back_inserter(classes), ClassOfText);
  const auto data = std::make_shared<LabeledLines>();
  data->class_count = static_cast<std::int64_t>(classes.size());
  ESPALIER_ASSIGN(data->training, ReadLines(training, classes, *data));
  ESPALIER_ASSIGN(data->validation, ReadLines(validation, classes, *data));
  return [data = std::shared_ptr<const LabeledLines>(data)](std::uint64_t seed) { return MakeLineBatches(data, seed); };
}

}  // namespace

std::optional<DataFiles> FindText(const std::filesystem::path& folder) {
  Paths training{FindFile(folder, "train.txt")};
  const std::filesystem::path second = FindFile(folder, "second.txt");
  const std::filesystem::path validation = FindFile(folder, "test.txt");
  if (training.front().empty() || validation.empty()) return std::nullopt;
  if (!second.empty()) training.push_back(second);
  return DataFiles{.kind = DataKind::kText,
                   .version = kTextVersion,
                   .training = training,
                   .validation = {validation},
                   .hyper_parameters = DeclareText(!second.empty()),
                   .read = [training, validation] { return ReadTexts(training, validation); }};
}

std::optional<DataFiles> FindLabeledLines(const std::filesystem::path& folder) {
  const Paths training = FindTextsIn(folder / "train");
  const Paths validation = FindTextsIn(folder / "test");
  if (training.empty() || validation.empty()) return std::nullopt;
  return DataFiles{.kind = DataKind::kLabeledLines,
                   .version = kLinesVersion,
                   .training = training,
                   .validation = validation,
                   .hyper_parameters = DeclareLines(),
                   .read = [training, validation] { return ReadLabeledLines(training, validation); }};
}

}  // namespace espalier::trainer
