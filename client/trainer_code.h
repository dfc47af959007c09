// Trainers of the user's own, as study files and specifications name them: FILE.py:NAME, script:FILE, library:FILE.so,
// torchscript:FILE.pt, command:LINE, or one that is built in, over a folder of the user's data. Servers need not have
// been told of them before.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/study_specification.h"
#include "protocol/trainer_reference.h"

namespace espalier {

struct TrainerCode {
  // Its file is an absolute path, its name is as in protocol/trainer_reference.h.
  Entry entry{};
  std::string folder{};  // from which its paths are seen, absolute
  std::string data{};    // an absolute folder, for the service's own worker; empty: none, or what is built in
  std::string python{};  // an absolute path, or a name that servers know; empty: whatever fits
  std::map<std::string, std::string> environment{};
};

// What the specification says of trainer, data, python and environment; nothing: servers have trainer and data of their
// own. Data is a folder if it has a "/" in its name, or is one and not called as what is built in. Paths are seen from
// `folder`, which is absolute; "~" is the user's home. Error: kInvalidArgument with the field.
Result<std::optional<TrainerCode>> TrainerCodeOf(const StudySpecification& said, const std::string& folder);

// What a text names, where it names a trainer by its kind, as above; "python:" before FILE:NAME says so of any file.
// Nothing: it is a name that servers may know.
std::optional<Entry> NamedEntry(const std::string& text);

// kInvalidArgument, of the trainer.
tl::unexpected<Error> WrongTrainer(const std::string& message);

// As a study file names it, without its folder.
std::string EntryOf(const TrainerCode& code);

}  // namespace espalier
