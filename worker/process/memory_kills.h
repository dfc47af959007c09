// Whether the kernel ends processes for want of memory: it does so by SIGKILL, as others may, and keeps an account.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace espalier::worker {

// How many processes the kernel has killed so far for want of memory: within this process's control group (of either
// version) where one keeps an account, else on the whole machine; 0 where neither can be read. Children are in the
// group of their parent, or below it. `root`: of the file system, "/" but for tests. Any thread. Cost: two small files
// read.
std::int64_t MemoryKillsHere(const std::filesystem::path& root = "/");

// Likewise within the control group (of the second version) whose folder this is, and below it; nothing where it keeps
// no account.
std::optional<std::int64_t> MemoryKillsIn(const std::filesystem::path& group);

}  // namespace espalier::worker
