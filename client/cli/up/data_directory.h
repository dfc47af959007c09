// The data directory: everything that outlives `up`, under one folder, for one `up` at a time.
//   address       the master's address, while it accepts connections        up.pid   the running `up`
//   token         that of the first administrator: whoever uses the service here
//   node-token    that of the node manager
//   postgres/     the private PostgreSQL cluster                            config/  files written for master and node
//   manager checkpoints/  the checkpoint store                                      node/    the node manager's own
//   logs/         one file a program                                        run/     records of running programs
// And the runtime directory beside it: a short, private folder of sockets, with a link to the token (a socket's path
// may have 107 bytes, while the data directory's may be long). It is named after the data directory, so that the next
// `up` finds what a killed one left. Invariant: while a DataDirectory lives, no other process has one of the same
// folder.
#pragma once

#include <string>

#include "base/result.h"
#include "client/cli/up/file_descriptor.h"

namespace espalier {

class DataDirectory {
 public:
  // Makes what is missing, locks the folder, and removes what a killed `up` left in the runtime directory.
  // Errors: kFailedPrecondition if another `up` holds it (says which process); kInternal.
  static Result<DataDirectory> Open(const std::string& path);

  // Records this process in up.pid.
  Result<void> WriteOwner() const;
  // Tells clients where the master listens.
  Result<void> WriteAddress(const std::string& address) const;
  // Puts a link to the token, which need not be there yet, into the runtime directory: clients look beside the socket.
  Result<void> LinkToken() const;
  // After a clean stop: removes address, up.pid and the runtime directory.
  void Clear() const;

  // An absolute path without symbolic links.
  const std::string& Path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  std::string TokenFile() const { return path_ + "/token"; }
  // Of the token of the node manager, which the master makes likewise.
  std::string NodeTokenFile() const { return path_ + "/node-token"; }
  std::string LogFile(const std::string& program) const { return path_ + "/logs/" + program + ".log"; }
  const std::string& RuntimePath() const { return runtime_path_; }

 private:
  DataDirectory(std::string path, std::string runtime_path, FileDescriptor lock)
      : path_(std::move(path)), runtime_path_(std::move(runtime_path)), lock_(std::move(lock)) {}

  std::string path_;
  std::string runtime_path_;
  FileDescriptor lock_;  // the folder itself, so that the lock leaves no file
};

// Where `up` records itself.
std::string OwnerFile(const std::string& data_directory);

}  // namespace espalier
