// A PostgreSQL cluster of `up`'s own, in the data directory: no TCP, one Unix socket in a private folder, no passwords.
// PostgreSQL refuses to run as root, so root's cluster belongs to another user (`postgres`, else `nobody`), who often
// may not even enter the folders above the data directory (/root). Therefore PostgreSQL is never given a path: the
// cluster and the socket folder are opened here and handed on as descriptors, which it names /proc/self/fd/N. Nothing
// outside those two folders changes its owner or mode. Invariant: the folder `postgres` holds a complete cluster or
// does not exist; a half-made one is `postgres.new`.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "client/cli/up/data_directory.h"
#include "client/cli/up/supervisor.h"

namespace espalier {

class PrivatePostgres {
 public:
  // Makes the cluster if there is none; takes a second or two. May be killed at any moment.
  // Errors: kFailedPrecondition, saying what to install; kInternal.
  static Result<PrivatePostgres> Open(const DataDirectory& data);

  // The server as a program to supervise. Before each start it ends what a killed one left: backends that hold its
  // shared memory. REQUIRES: this outlives the supervisor.
  Program ServerProgram() const;

  // What a client connects with.
  std::string ConnectionString() const;

 private:
  PrivatePostgres() = default;

  Result<void> MakeCluster() const;
  bool IsReady(pid_t server) const;

  std::string programs_;  // the folder of PostgreSQL's programs
  std::string cluster_path_;
  std::string socket_path_;
  std::string log_file_;
  std::optional<SystemUser> user_;  // unset: our own
  FileDescriptor cluster_;
  FileDescriptor socket_directory_;
};

}  // namespace espalier
