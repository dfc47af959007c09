#include "master/store/pq_errors.h"

#include <algorithm>
#include <exception>
#include <pqxx/pqxx>

namespace espalier::master {
namespace {

// One line, whatever the server wrote.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

ErrorCode CodeOf(const std::string& state) {
  const std::string kind = state.substr(0, 2);
  if (state == "40001" || state == "40P01") return ErrorCode::kAborted;  // serialization failure, deadlock
  if (state == "23514") return ErrorCode::kInvalidArgument;              // a value that breaks a table's rule
  if (kind == "23") return ErrorCode::kAborted;                          // a row that is, or is not, there
  if (kind == "22" || kind == "54") return ErrorCode::kInvalidArgument;  // a value, or one over a limit
  if (kind == "08" || kind == "53" || kind == "57" || kind == "58" || state == "55P03" || state == "25006" ||
      state == "40003") {
    return ErrorCode::kUnavailable;  // connection, resources (full disk), shutdown or timeout, system, lock, standby
  }
  return ErrorCode::kInternal;
}

}  // namespace

Error DatabaseError(const std::string& state, const std::string& message) {
  if (state.empty()) return {ErrorCode::kUnavailable, "the database is away: " + OneLine(message), {}};
  return {CodeOf(state), "the database refused: " + OneLine(message) + " (" + state + ")", {}};
}

Error CurrentDatabaseError() {
  try {
    throw;
  } catch (const pqxx::in_doubt_error& error) {
    return {ErrorCode::kUnavailable, "the commit's outcome is unknown: " + OneLine(error.what()), {}};
  } catch (const pqxx::broken_connection& error) {
    return {ErrorCode::kUnavailable, "the database is away: " + OneLine(error.what()), {}};
  } catch (const pqxx::statement_completion_unknown& error) {
    return {ErrorCode::kUnavailable, "a statement's outcome is unknown: " + OneLine(error.what()), {}};
  } catch (const pqxx::transaction_rollback& error) {
    return {ErrorCode::kAborted, "the database rolled back: " + OneLine(error.what()), {}};
  } catch (const pqxx::sql_error& error) {
    return DatabaseError(error.sqlstate(), error.what());
  } catch (const pqxx::failure& error) {
    return {ErrorCode::kUnavailable, "the database is away: " + OneLine(error.what()), {}};
  } catch (const std::exception& error) {
    return {ErrorCode::kInternal, "the database library failed: " + OneLine(error.what()), {}};
  } catch (...) {
    return {ErrorCode::kInternal, "the database library failed", {}};
  }
}

}  // namespace espalier::master
