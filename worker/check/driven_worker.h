// Workers that are asked one thing at a time and waited for. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/process/worker_process.h"
#include "worker/process/worker_template.h"
#include "worker/protocol/worker_message.h"

namespace espalier::trainer_check {

// Whoever waits for a worker can be told to stop: once `fd` can be read, `is_asked` says whether it was for that.
struct StopRequest {
  int fd = -1;  // none: never
  std::function<bool()> is_asked;
};

class DrivenWorker {
 public:
  // `mark`: of its family. `from`: of such workers; may be null. Error: of WorkerProcess::Start.
  static Result<std::unique_ptr<DrivenWorker>> Start(const std::vector<std::string>& command,
                                                     const std::filesystem::path& log, const std::string& mark,
                                                     const worker::WorkerPlace& place,
                                                     std::shared_ptr<worker::WorkerTemplate> from,
                                                     const StopRequest& stop);

  // Waits as long as it takes, whatever the worker says meanwhile. A failure is an answer. Errors: kUnavailable when
  // the worker has died, with its last words; kInternal when it answers what is no answer; kAborted when it was told to
  // stop.
  Result<worker::ReplyKind> Ask(worker::RequestKind request);

 private:
  DrivenWorker(std::unique_ptr<worker::WorkerProcess> process, const StopRequest& stop)
      : process_(std::move(process)), stop_(stop) {}

  Result<std::string> NextMessage();
  Result<void> Wait(int fd, short events);
  tl::unexpected<Error> Died();

  std::unique_ptr<worker::WorkerProcess> process_;
  const StopRequest& stop_;
  std::vector<std::string> received_;  // the oldest last
  std::int64_t last_id_ = 0;
};

// Where the workers of one check come from. While one is in use the next is started, since that takes seconds. Python's
// are, from the second on, forked from a template, since then it takes less; the first is not, so that what depends on
// where things lie in memory differs between it and the others.
class Workers {
 public:
  // `folder`: for logs and workers' temporary files; it outlives this. `family`: of this process, whose part they are;
  // empty: it has none.
  Workers(std::vector<std::string> command, std::filesystem::path folder, StopRequest stop, std::string family = {})
      : command_(std::move(command)), folder_(std::move(folder)), stop_(std::move(stop)), family_(std::move(family)) {}

  // What the first worker says of itself; it waits to be the next. Errors: of Start and Ask; kFailedPrecondition when
  // it speaks another version.
  Result<worker::Description> Describe();

  // The worker in use ends, and a fresh one takes its place. `more`: another will be wanted. Errors: as Describe;
  // kFailedPrecondition when it describes itself in another way than the first.
  Result<void> Next(bool more);

  // The one in use. REQUIRES: Next succeeded.
  DrivenWorker& Current() { return *current_; }
  // Whether they have said that they can do that. REQUIRES: Describe succeeded.
  bool Can(const std::string& capability) const;
  int started() const { return started_; }

  // Lines that begin with "espalier:" in what the workers printed, each once.
  std::vector<std::string> Said() const;

 private:
  std::filesystem::path Log(int number) const;
  worker::WorkerPlace PlaceOf(int number) const;
  std::string MarkOf(const std::filesystem::path& log) const;
  Result<void> StartSpare();

  const std::vector<std::string> command_;
  const std::filesystem::path folder_;
  const StopRequest stop_;
  const std::string family_;
  std::shared_ptr<worker::WorkerTemplate> template_;  // null: of other workers, or not yet
  std::unique_ptr<DrivenWorker> current_;
  std::unique_ptr<DrivenWorker> spare_;
  std::optional<worker::Description> description_;
  int started_ = 0;
};

}  // namespace espalier::trainer_check
