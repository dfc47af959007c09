// The real thing, for one bench: a PostgreSQL cluster as `espalier up` makes it (fsync on), in a new folder, and
// espalier-master on it, both processes of their own. Everything goes with this object. Owned by one thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "client/cli/up/config_files.h"

namespace espalier::bench {

class Service {
 public:
  // `retire_after`: how long after they are finished studies leave the master's memory; 0: as it has it.
  explicit Service(Seconds retire_after = Seconds{0});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Starts the master and waits until it answers a call; how long that took.
  Seconds StartMaster();
  // As a user would: it ends its work first.
  void StopMaster();

  // A real node manager on this machine, with these runtimes, as `espalier up` starts it; returns when all have said
  // what they train.
  void StartNodeManager(int slots, const std::vector<WorkerRuntime>& runtimes);
  // With espalier-worker.
  void StartNodeManager(int slots);
  pid_t NodeProcess() const;
  // Of a file in the service's folder, which goes with it.
  std::string NewFile(const std::string& name) const;

  // For clients, who need no token: they find it beside the socket.
  const std::string& address() const { return address_; }
  // Of node managers of the bench's own, whatever their servers are called.
  std::string StubToken() const;
  // The connection string of the master's database, or of another one of the cluster.
  std::string Database(const std::string& name = "espalier") const;
  // Of the master, resident, in bytes.
  std::int64_t MasterMemory() const;
  pid_t MasterProcess() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::string address_;
};

// A new, empty folder on the disk of the repository, which goes with this object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The path of a program that was built with this one.
std::string ProgramBesideThisOne(const std::string& name);

// Ends the bench, saying why, by an exception that main catches, so that nothing stays behind: for what must not happen
// while measuring.
[[noreturn]] void GiveUp(const std::string& why);

// A result's content; gives up on an error.
template <class T>
T Need(Result<T> result) {
  if (!result.has_value()) GiveUp(result.error().field + " " + result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace espalier::bench
