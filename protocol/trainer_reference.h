// A trainer of a user's own, by reference: what a server needs to know to run it. The code itself is an archive, known
// by its content; or it is the server's own trainer, over data of the user's. A server that is told of a reference
// describes what it is, and offers that, or says why not.
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

enum class EntryKind {
  kPython,       // "train.py:Digits": a file of the archive, and a class or function in it
  kScript,       // "script:train.sh": a program that can only be started; its file is the archive
  kLibrary,      // "library:libnet.so" or "library:libnet.so:lenet": C++; the library is the archive
  kTorchScript,  // "torchscript:net.pt": an exported module; its file is the archive
  kCommand,      // "command:./worker --fast": a shell, in `folder`, starts what speaks the trainer protocol; no archive
  kBuiltIn,      // "built-in:resnet": a trainer of the server's own worker; no archive
};

// What an entry names.
struct Entry {
  EntryKind kind = EntryKind::kPython;
  std::string file;  // a file's name, or a path within the archive; empty where there is no archive
  std::string name;  // of the trainer in it: of kPython and kBuiltIn always, of kLibrary perhaps; of kCommand the line
  friend bool operator==(const Entry&, const Entry&) = default;
};

struct TrainerReference {
  std::string entry;    // Print(Entry)
  std::string archive;  // SHA-256 of its bytes, hexadecimal; empty: there is none
  // What interprets it: an absolute path, or a name that servers know; empty: `client`, else a server's first.
  std::string python;
  ClientPython client;
  std::string folder;  // absolute: where the code comes from; for the server's own worker, where the data is
  // Paths below `folder`: what is to be found beside the code; for the server's own worker the data set's, one at most.
  std::vector<std::string> data;
  std::string data_seen;  // digest of the data as who asks sees it, if he does: other data is described anew
  std::map<std::string, std::string> environment;  // that its workers get besides; part of its identity
  std::string user;                                // whose code it is
  std::string team;
  friend bool operator==(const TrainerReference&, const TrainerReference&) = default;
};

// Of any text; whether it makes sense, Check says.
Entry ParseEntry(const std::string& text);
std::string Print(const Entry& entry);

// Whether code travels.
bool HasArchive(EntryKind kind);
// Whether `espalier-worker` runs it.
bool IsOfOwnWorker(EntryKind kind);

// Of an archive.
inline constexpr std::size_t kArchiveBytesMax = std::size_t{10} << 20;

// The same reference has the same digest everywhere, and in every release.
Digest128 DigestOf(const TrainerReference& reference);

// Whether a server could make anything of it: paths stay below their folder, texts have a bounded size. Error:
// kInvalidArgument with the field, as users write it where they do.
Result<void> Check(const TrainerReference& reference);

}  // namespace espalier
