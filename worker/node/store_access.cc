#include "worker/node/store_access.h"

#include <memory>

#include "base/failpoint.h"
#include "base/log.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/node/core/staging.h"

namespace espalier::node {
namespace {

constexpr int kFetchesAtOnce = 4;

// The store's file, checked from end to end: a damaged or a foreign one counts as absent.
Result<PinnedFile> FetchChecked(CheckpointStore& store, const FetchCheckpoint& fetch) {
  ESPALIER_ASSIGN(PinnedFile file, store.Fetch(fetch.file));
  const Result<CheckpointHead> head = CheckCheckpointFile(file.path());
  if (!head.has_value()) {
    ESPALIER_RETURN_IF_ERROR(store.Fetch(fetch.file));  // the store may have gone meanwhile
    return tl::unexpected<Error>(head.error());
  }
  if (head->state_sha256 != fetch.state_sha256) {
    return MakeError(ErrorCode::kNotFound, "the checkpoint " + fetch.file + " holds another state");
  }
  return file;
}

// A file counts once all of it was read, and is what the worker has said.
Result<void> PutChecked(CheckpointStore& store, const UploadFile& upload) {
  const Result<StateOfRun> found = ReadStagedState(upload.staged);
  if (!found.has_value() && found.error().code == ErrorCode::kUnavailable) return tl::unexpected<Error>(found.error());
  const std::string wrong = "the worker did not write what it said: ";
  if (!found.has_value()) return MakeError(ErrorCode::kAborted, wrong + found.error().message);
  const StateStored& state = found->state;
  const StateStored& said = upload.state;
  const bool fits = found->run == upload.run && state.plan == said.plan && state.point == said.point &&
                    state.lineage == said.lineage && state.state_sha256 == said.state_sha256 &&
                    state.bytes == said.bytes;
  if (!fits) return MakeError(ErrorCode::kAborted, wrong + upload.staged + " holds another state");
  return store.Put(upload.staged, upload.state.file);
}

}  // namespace

Result<StateOfRun> ReadStagedState(const std::filesystem::path& file) {
  ESPALIER_ASSIGN(const CheckpointHead head, CheckCheckpointFile(file));
  StateOfRun found{.run = head.identity.run};
  found.state.plan = head.identity.plan;
  found.state.point = head.identity.point;
  found.state.lineage = head.identity.lineage;
  found.state.state_sha256 = head.state_sha256;
  std::error_code error;
  found.state.bytes = static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  return found;
}

StoreAccess::StoreAccess(CheckpointStore& store, LoopQueue& queue)
    : store_(store), queue_(queue), uploads_(kUploadsAtOnce), fetches_(kFetchesAtOnce) {}

void StoreAccess::Fetch(const FetchCheckpoint& fetch, std::function<void(const Result<std::string>&)> done) {
  fetches_.Do([this, fetch, done = std::move(done)] {
    const auto file = std::make_shared<Result<PinnedFile>>(FetchChecked(store_, fetch));
    queue_.Post([this, fetch, done, file] {
      if (!file->has_value()) {
        Log(LogLevel::kWarning, file->error().message, {{"run", fetch.run.run}});
        return done(tl::unexpected<Error>(file->error()));
      }
      const std::string path = (*file)->path().string();
      pinned_.insert_or_assign(fetch.run, *std::move(*file));
      done(path);
    });
  });
}

void StoreAccess::Upload(const UploadFile& upload, std::function<void(const Result<void>&)> done) {
  uploads_.Do([this, upload, done = std::move(done)] {
    const Result<void> stored = PutChecked(store_, upload);
    if (stored.has_value()) ESPALIER_FAILPOINT("checkpoint.stored");
    queue_.Post([stored, done] {
      if (!stored.has_value()) {
        Log(LogLevel::kError, "a checkpoint cannot be stored now", {{"reason", stored.error().message}});
      }
      done(stored);
    });
  });
}

void StoreAccess::Remove(const std::string& name) {
  uploads_.Do([this, name] {
    const Result<void> removed = store_.Remove(name);
    if (!removed.has_value()) Log(LogLevel::kWarning, removed.error().message, {{"file", name}});
  });
}

}  // namespace espalier::node
