#include "sim/learning_curves.h"

#include <csv.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/check.h"

namespace espalier::sim {
namespace {

using Row = std::vector<std::string>;

// The rows of a text, quotes and all resolved; each with as many cells as it has.
std::optional<std::vector<Row>> RowsOf(std::string_view text) {
  struct Reading {
    std::vector<Row> rows;
    Row row;
  } reading;
  csv_parser parser;
  ESPALIER_CHECK(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0);
  const auto on_cell = [](void* cell, std::size_t length, void* to) {
    static_cast<Reading*>(to)->row.emplace_back(static_cast<const char*>(cell), length);
  };
  const auto on_row = [](int, void* to) {
    auto& read = *static_cast<Reading*>(to);
    read.rows.push_back(std::exchange(read.row, {}));
  };
  const bool is_read = csv_parse(&parser, text.data(), text.size(), on_cell, on_row, &reading) == text.size() &&
                       csv_fini(&parser, on_cell, on_row, &reading) == 0;
  csv_free(&parser);
  if (!is_read) return std::nullopt;
  return std::move(reading.rows);
}

template <class Number>
std::optional<Number> ParseNumber(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Value> ParseCell(const std::string& cell, ValueType type) {
  switch (type) {
    case ValueType::kBoolean:
      if (cell == "true" || cell == "false") return Value{cell == "true"};
      return std::nullopt;
    case ValueType::kInteger:
      if (const auto number = ParseNumber<std::int64_t>(cell)) return Value{*number};
      return std::nullopt;
    case ValueType::kFloating:
      if (const auto number = ParseNumber<double>(cell); number && std::isfinite(*number)) return Value{*number};
      return std::nullopt;
    case ValueType::kText:
      return Value{cell};
  }
  return std::nullopt;
}

tl::unexpected<Error> Defect(const std::string& message) { return MakeError(ErrorCode::kInvalidArgument, message); }

std::string AtRow(std::size_t row) { return "row " + std::to_string(row + 1) + ": "; }

Result<std::size_t> ColumnOf(const Row& head, const std::string& name) {
  const auto it = std::find(head.begin(), head.end(), name);
  if (it == head.end()) return Defect("there is no column '" + name + "'");
  return static_cast<std::size_t>(it - head.begin());
}

}  // namespace

Result<LearningCurves> LearningCurves::Parse(std::string_view csv, const std::string& metric, const ValueTypes& types) {
  const std::optional<std::vector<Row>> rows = RowsOf(csv);
  if (!rows.has_value()) return Defect("it is not CSV: a quote stands where none may");
  if (rows->empty()) return Defect("it is empty; a head with the columns' names is expected");
  const Row& head = rows->front();
  ESPALIER_ASSIGN(const std::size_t step_column, ColumnOf(head, "step"));
  ESPALIER_ASSIGN(const std::size_t metric_column, ColumnOf(head, metric));
  LearningCurves curves;
  std::vector<std::size_t> value_columns;
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto type = types.find(head[i]);
    if (type == types.end() || i == step_column || i == metric_column) continue;
    curves.columns_.emplace_back(*type);
    value_columns.push_back(i);
  }
  for (std::size_t i = 1; i < rows->size(); ++i) {
    const Row& row = (*rows)[i];
    if (row.size() != head.size()) return Defect(AtRow(i) + "it has another number of cells than the head");
    Place place;
    for (std::size_t k = 0; k < value_columns.size(); ++k) {
      const std::optional<Value> value = ParseCell(row[value_columns[k]], curves.columns_[k].second);
      if (!value.has_value()) {
        return Defect(AtRow(i) + curves.columns_[k].first + ": a " + std::string(Name(curves.columns_[k].second)) +
                      " value is expected, got '" + row[value_columns[k]] + "'");
      }
      place.first.push_back(*value);
    }
    const auto step = ParseNumber<std::int64_t>(row[step_column]);
    const auto measured = ParseNumber<double>(row[metric_column]);
    if (!step.has_value() || *step < 0) return Defect(AtRow(i) + "step: a whole number of at least 0 is expected");
    if (!measured.has_value()) return Defect(AtRow(i) + metric + ": a number is expected");
    place.second = Step{*step};
    if (!curves.metric_.emplace(std::move(place), *measured).second) {
      return Defect(AtRow(i) + "another row has these values at this step");
    }
  }
  return curves;
}

bool LearningCurves::HasColumn(std::string_view csv, const std::string& name) {
  const std::optional<std::vector<Row>> head = RowsOf(csv.substr(0, csv.find('\n')));
  return head.has_value() && !head->empty() && ColumnOf(head->front(), name).has_value();
}

Result<double> LearningCurves::At(const worker::Values& values, Step step) const {
  Place place{{}, step};
  std::string named;
  for (const auto& [name, type] : columns_) {
    const auto value = values.find(name);
    place.first.push_back(value == values.end() ? NeutralValue(type) : value->second);
    named += " " + name + "=" + Print(place.first.back());
  }
  const auto it = metric_.find(place);
  if (it != metric_.end()) return it->second;
  return MakeError(ErrorCode::kNotFound, "the table of metrics has no row for step " + std::to_string(step.value) +
                                             (named.empty() ? "" : " with" + named));
}

}  // namespace espalier::sim
