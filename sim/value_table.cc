#include "sim/value_table.h"

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

// Where the head has what is read.
struct Layout {
  std::optional<std::size_t> step;
  std::vector<std::size_t> numbers;
  std::vector<std::size_t> values;
};

Result<Layout> LayoutOf(const Row& head, const std::vector<NumberColumn>& numbers, const ValueTypes& types,
                        bool by_step) {
  Layout layout;
  if (by_step) {
    ESPALIER_ASSIGN(layout.step, ColumnOf(head, "step"));
  }
  for (const NumberColumn& number : numbers) {
    ESPALIER_ASSIGN(layout.numbers.emplace_back(), ColumnOf(head, number.name));
  }
  for (std::size_t i = 0; i < head.size(); ++i) {
    const bool is_number = std::ranges::find(layout.numbers, i) != layout.numbers.end();
    if (types.contains(head[i]) && !is_number && layout.step != i) layout.values.push_back(i);
  }
  return layout;
}

Result<Step> StepIn(const std::string& cell) {
  const auto step = ParseNumber<std::int64_t>(cell);
  if (step.has_value() && *step >= 0) return Step{*step};
  return Defect("step: a whole number of at least 0 is expected");
}

Result<double> NumberIn(const std::string& cell, const NumberColumn& column) {
  const std::optional<double> number = ParseNumber<double>(cell);
  if (!number.has_value()) return Defect(column.name + ": a number is expected, got '" + cell + "'");
  if (!column.range || (*number >= column.range->first && *number <= column.range->second)) return *number;
  return Defect(column.name + ": a number from " + Print(Value{column.range->first}) + " to " +
                Print(Value{column.range->second}) + " is expected, got " + cell);
}

}  // namespace

Result<ValueTable> ValueTable::Parse(std::string_view csv, const std::vector<NumberColumn>& numbers,
                                     const ValueTypes& types, bool by_step) {
  const std::optional<std::vector<Row>> rows = RowsOf(csv);
  if (!rows.has_value()) return Defect("it is not CSV: a quote stands where none may");
  if (rows->empty()) return Defect("it is empty; a head with the columns' names is expected");
  const Row& head = rows->front();
  ESPALIER_ASSIGN(const Layout layout, LayoutOf(head, numbers, types, by_step));
  ValueTable table;
  for (const std::size_t column : layout.values) table.columns_.emplace_back(*types.find(head[column]));
  const auto take = [&](const Row& row) -> Result<void> {
    if (row.size() != head.size()) return Defect("it has another number of cells than the head");
    Place place;
    for (const std::size_t column : layout.values) {
      const ValueType type = types.at(head[column]);
      const std::optional<Value> value = ParseCell(row[column], type);
      if (!value.has_value()) {
        return Defect(head[column] + ": a " + std::string(Name(type)) + " value is expected, got '" + row[column] +
                      "'");
      }
      place.first.push_back(*value);
    }
    if (layout.step) {
      ESPALIER_ASSIGN(place.second, StepIn(row[*layout.step]));
    }
    std::vector<double> said;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ESPALIER_ASSIGN(said.emplace_back(), NumberIn(row[layout.numbers[i]], numbers[i]));
    }
    if (table.rows_.emplace(std::move(place), std::move(said)).second) return {};
    return Defect("another row has these values" + std::string(by_step ? " at this step" : ""));
  };
  for (std::size_t i = 1; i < rows->size(); ++i) {
    if (const Result<void> taken = take((*rows)[i]); !taken.has_value()) {
      return Defect(AtRow(i) + taken.error().message);
    }
  }
  return table;
}

bool ValueTable::HasColumn(std::string_view csv, const std::string& name) {
  const std::optional<std::vector<Row>> head = RowsOf(csv.substr(0, csv.find('\n')));
  return head.has_value() && !head->empty() && ColumnOf(head->front(), name).has_value();
}

const std::vector<double>* ValueTable::Find(const worker::Values& values, Step step) const {
  Place place{{}, step};
  for (const auto& [name, type] : columns_) {
    const auto value = values.find(name);
    place.first.push_back(value == values.end() ? NeutralValue(type) : value->second);
  }
  const auto row = rows_.find(place);
  return row == rows_.end() ? nullptr : &row->second;
}

std::string ValueTable::Named(const worker::Values& values) const {
  std::string named;
  for (const auto& [name, type] : columns_) {
    const auto value = values.find(name);
    named += (named.empty() ? "with " : " ") + name + "=" +
             Print(value == values.end() ? NeutralValue(type) : value->second);
  }
  return named;
}

}  // namespace espalier::sim
