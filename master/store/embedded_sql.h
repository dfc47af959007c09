// The files of sql/, carried by the program. Generated when it is built.
#pragma once

#include <span>
#include <string_view>

namespace espalier::master {

struct EmbeddedSql {
  std::string_view name;  // the path below its folder without ".sql": "0001_first", "claim/settle"
  std::string_view text;
};

// Sorted by name, thus by version.
std::span<const EmbeddedSql> EmbeddedMigrations();
std::span<const EmbeddedSql> EmbeddedQueries();

}  // namespace espalier::master
