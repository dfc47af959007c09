#include "worker/trainer/data/csv_rows.h"

#include <csv.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "worker/trainer/data/data_files.h"

namespace espalier::trainer {
namespace {

// libcsv, which keeps what it was fed of a row that has not ended.
class CsvParser {
 public:
  CsvParser() { ESPALIER_CHECK(csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) == 0); }
  ~CsvParser() { csv_free(&parser_); }
  CsvParser(const CsvParser&) = delete;
  CsvParser& operator=(const CsvParser&) = delete;

  // False: a quote stands where none may; is not closed.
  bool Feed(std::string_view text) {
    return csv_parse(&parser_, text.data(), text.size(), OnField, OnRow, this) == text.size();
  }
  bool Finish() { return csv_fini(&parser_, OnField, OnRow, this) == 0; }

  // Those that have ended since the last call.
  std::vector<Fields> TakeRows() { return std::exchange(rows_, {}); }

 private:
  static void OnField(void* bytes, std::size_t length, void* parser) {
    static_cast<CsvParser*>(parser)->row_.emplace_back(static_cast<const char*>(bytes), length);
  }
  static void OnRow(int, void* parser) {
    auto& self = *static_cast<CsvParser*>(parser);
    self.rows_.push_back(std::exchange(self.row_, {}));
  }

  csv_parser parser_{};
  Fields row_;
  std::vector<Fields> rows_;
};

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

Result<void> ReadCsvRows(const std::filesystem::path& file, std::string_view text,
                         const std::function<Result<void>(std::int64_t line, const Fields& fields)>& take) {
  CsvParser parser;
  std::int64_t row_line = 0;  // where the row begins that the parser is in
  std::size_t row_bytes = 0;  // 0: it is in none
  const auto take_rows = [&]() -> Result<void> {
    const std::vector<Fields> rows = parser.TakeRows();
    if (!rows.empty()) row_bytes = 0;
    for (const Fields& row : rows) ESPALIER_RETURN_IF_ERROR(take(row_line, row));
    return {};
  };
  // Fed line by line, so that the line of each row is known.
  for (std::int64_t line = 1; !text.empty(); ++line) {
    const std::string_view piece = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(piece.size());
    if (row_bytes == 0 && IsBlank(piece)) continue;
    if (row_bytes == 0) row_line = line;
    row_bytes += piece.size();
    if (row_bytes > kCsvRowBytesMax) {
      return Malformed(file, row_line, "a row is longer than a mebibyte; is a quote (\") not closed?");
    }
    if (!parser.Feed(piece)) {
      return Malformed(file, line, "a quote (\") stands within a field; put the field into quotes, and this one twice");
    }
    ESPALIER_RETURN_IF_ERROR(take_rows());
  }
  if (!parser.Finish()) return Malformed(file, row_line, "a quote (\") is not closed");
  return take_rows();
}

}  // namespace espalier::trainer
