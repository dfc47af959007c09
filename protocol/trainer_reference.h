// A trainer in a user's own code, by reference: what a server needs to know to run it. The code itself is an archive,
// known by its content. A server that is told of a reference describes what it is, and offers that, or says why not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"

namespace espalier {

// The interpreter of whoever asks. It is used where a node manager of the same user runs on the same machine.
struct ClientPython {
  std::string path;      // absolute; empty: there is none
  std::string machine;   // base/this_machine.h
  std::int64_t uid = 0;  // of the system's user
  friend bool operator==(const ClientPython&, const ClientPython&) = default;
};

struct TrainerReference {
  // "train.py:Digits": a file of the archive, and a class or function in it; "script:train.sh": a program that can only
  // be started, whose file is the archive.
  std::string entry;
  std::string archive;  // SHA-256 of its bytes, hexadecimal
  // What interprets it: an absolute path, or a name that servers know; empty: `client`, else a server's first.
  std::string python;
  ClientPython client;
  std::string folder;             // absolute: where the code comes from
  std::vector<std::string> data;  // paths below `folder`, to be found beside the code
  std::string data_seen;          // digest of the data as who asks sees it, if he does: other data is described anew
  std::map<std::string, std::string> environment;  // that its workers get besides; part of its identity
  std::string user;                                // whose code it is
  std::string team;
  friend bool operator==(const TrainerReference&, const TrainerReference&) = default;
};

// What stands before a program's name in an entry; nothing where the entry is none of a program.
inline constexpr std::string_view kScriptPrefix = "script:";
std::optional<std::string> ProgramOf(const std::string& entry);

// Of an archive.
inline constexpr std::size_t kArchiveBytesMax = std::size_t{10} << 20;

// The same reference has the same digest everywhere, and in every release.
Digest128 DigestOf(const TrainerReference& reference);

// Whether a server could make anything of it: paths stay below their folder, texts have a bounded size. Error:
// kInvalidArgument with the field, as users write it where they do.
Result<void> Check(const TrainerReference& reference);

}  // namespace espalier
