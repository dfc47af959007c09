// A worker and all processes that it has started, however they have left it: known by a mark in their environment,
// which children inherit, and by its control group, where it has one. So a worker dies whole, and a node manager that
// was killed finds what it has left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace espalier::worker {

// The variable of the environment that carries the mark.
inline constexpr char kFamilyVariable[] = "ESPALIER_WORKER";

// Of all workers that node managers of this work directory ever start, and of one of them, by its number.
std::string FamilyMark(const std::filesystem::path& work_directory);
std::string FamilyMark(const std::filesystem::path& work_directory, std::int64_t worker);

// Kills all processes whose mark is this one, or begins with it and a '#', and all in the control group, if it names
// one: either may have been left. Waits until they are gone, for some seconds at most. How many there were. Cost: a
// look at each process of the machine, some milliseconds.
int KillFamily(const std::string& mark, const std::filesystem::path& control_group = {});

}  // namespace espalier::worker
