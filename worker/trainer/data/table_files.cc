#include "worker/trainer/data/table_files.h"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "worker/trainer/data/csv_rows.h"
#include "worker/trainer/data/file_bytes.h"

namespace espalier::trainer {
namespace {

const std::string kTableVersion = "table-1";
const std::string kLabelColumn = "label";

std::optional<float> ParseFloat(const std::string& text) {
  float number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

class TableReading {
 public:
  explicit TableReading(std::filesystem::path file) : file_(std::move(file)) {}

  Result<void> Take(std::int64_t line, const Fields& fields) {
    if (column_count_ == 0) {
      column_count_ = fields.size();
      label_column_ = fields.size() - 1;
      if (column_count_ < 2) return Malformed(file_, line, "expected numbers and a label, separated by commas");
      if (IsHead(fields)) return TakeHead(line, fields);
    }
    if (fields.size() != column_count_) {
      return Malformed(file_, line,
                       "expected " + std::to_string(column_count_) + " fields, as in the first row, got " +
                           std::to_string(fields.size()));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i == label_column_) continue;
      const std::optional<float> number = ParseFloat(fields[i]);
      if (!number.has_value()) {
        return Malformed(
            file_, line,
            "field " + std::to_string(i + 1) + ": expected a number, got '" + fields[i].substr(0, 40) + "'");
      }
      numbers_.push_back(*number);
    }
    labels_.push_back(fields[label_column_]);
    lines_.push_back(line);
    return {};
  }

  const std::filesystem::path& file() const { return file_; }
  const std::vector<std::string>& labels() const { return labels_; }
  std::int64_t LineOf(std::size_t row) const { return lines_[row]; }
  at::Tensor Inputs() const {
    return at::tensor(numbers_).reshape(
        {static_cast<std::int64_t>(labels_.size()), static_cast<std::int64_t>(column_count_) - 1});
  }

 private:
  // Names of columns are no numbers, whatever labels are.
  static bool IsHead(const Fields& fields) {
    return std::ranges::none_of(fields, [](const std::string& field) { return ParseFloat(field).has_value(); });
  }

  Result<void> TakeHead(std::int64_t line, const Fields& fields) {
    const auto label = std::ranges::find(fields, kLabelColumn);
    if (label == fields.end()) return Malformed(file_, line, "none of the columns is named '" + kLabelColumn + "'");
    label_column_ = static_cast<std::size_t>(label - fields.begin());
    return {};
  }

  const std::filesystem::path file_;
  std::size_t column_count_ = 0;
  std::size_t label_column_ = 0;
  std::vector<float> numbers_;
  std::vector<std::string> labels_;
  std::vector<std::int64_t> lines_;
};

Result<void> ReadRows(TableReading& reading) {
  ESPALIER_ASSIGN(const std::shared_ptr<const FileBytes> bytes, FileBytes::Open(reading.file()));
  ESPALIER_RETURN_IF_ERROR(ReadCsvRows(reading.file(), bytes->bytes(), [&](std::int64_t line, const Fields& fields) {
    return reading.Take(line, fields);
  }));
  if (reading.labels().empty()) return Malformed(reading.file(), "it has no rows; expected one for each sample");
  return {};
}

// `classes`: sorted.
Result<LabeledSamples> ToSamples(const TableReading& rows, const std::vector<std::string>& classes) {
  std::vector<std::int64_t> labels;
  for (std::size_t row = 0; row < rows.labels().size(); ++row) {
    const std::string& label = rows.labels()[row];
    const auto it = std::ranges::lower_bound(classes, label);
    if (it == classes.end() || *it != label) {
      return Malformed(rows.file(), rows.LineOf(row), "the label '" + label + "' is none of those for training");
    }
    labels.push_back(it - classes.begin());
  }
  return LabeledSamples{rows.Inputs(), at::tensor(labels)};
}

Result<OpenBatches> ReadTable(const std::filesystem::path& training_file,
                              const std::filesystem::path& validation_file) {
  TableReading training(training_file);
  TableReading validation(validation_file);
  ESPALIER_RETURN_IF_ERROR(ReadRows(training));
  ESPALIER_RETURN_IF_ERROR(ReadRows(validation));
  std::vector<std::string> classes = training.labels();
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  ESPALIER_ASSIGN(LabeledSamples training_samples, ToSamples(training, classes));
  ESPALIER_ASSIGN(LabeledSamples validation_samples, ToSamples(validation, classes));
  return ToBatches(std::move(training_samples), std::move(validation_samples),
                   static_cast<std::int64_t>(classes.size()), validation_file);
}

}  // namespace

std::optional<DataFiles> FindTable(const std::filesystem::path& folder) {
  const std::filesystem::path training = FindFile(folder, "train.csv");
  const std::filesystem::path validation = FindFile(folder, "test.csv");
  if (training.empty() || validation.empty()) return std::nullopt;
  return DataFiles{.kind = DataKind::kTable,
                   .version = kTableVersion,
                   .training = {training},
                   .validation = {validation},
                   .hyper_parameters = {},
                   .read = [training, validation] { return ReadTable(training, validation); }};
}

}  // namespace espalier::trainer
