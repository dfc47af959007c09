#include "worker/node/reference_access.h"

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <mutex>

#include "base/token.h"
#include "espalier/v1/node_manager.grpc.pb.h"
#include "proto/convert_trainer_reference.h"
#include "worker/node/work_threads.h"

namespace espalier::node {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kFetchPatience{60};

Result<void> WriteWhole(const fs::path& file, const std::string& bytes) {
  const fs::path temporary = file.string() + ".new";
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  {
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream.flush()) return MakeError(ErrorCode::kUnavailable, "cannot write " + temporary.string());
  }
  fs::rename(temporary, file, error);
  if (error) return MakeError(ErrorCode::kUnavailable, "cannot write " + file.string() + ": " + error.message());
  return {};
}

}  // namespace

struct ReferenceAccess::Parts {
  Parts(const std::shared_ptr<grpc::Channel>& master, std::string shown_token, fs::path archives, Host its_host,
        LoopQueue& its_queue)
      : token(std::move(shown_token)),
        folder(std::move(archives)),
        host(std::move(its_host)),
        queue(its_queue),
        stub(v1::NodeManagerService::NewStub(master)) {}

  // On the thread beside.
  Result<v1::GetReferenceResponse> Get(Digest128 digest) {
    const auto context = std::make_shared<grpc::ClientContext>();
    {
      const std::lock_guard lock(mutex);
      if (ending) return MakeError(ErrorCode::kUnavailable, "the node manager stops");
      under_way = context;
    }
    if (!token.empty()) context->AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + token);
    context->set_deadline(std::chrono::system_clock::now() + kFetchPatience);
    v1::GetReferenceRequest request;
    request.set_reference_digest(ToHex(digest));
    v1::GetReferenceResponse response;
    const grpc::Status status = stub->GetReference(context.get(), request, &response);
    if (status.ok()) return response;
    const bool is_refused = status.error_code() == grpc::StatusCode::NOT_FOUND;
    return MakeError(is_refused ? ErrorCode::kNotFound : ErrorCode::kUnavailable, status.error_message());
  }

  Result<std::vector<std::string>> Prepare(Digest128 digest) {
    ESPALIER_ASSIGN(const v1::GetReferenceResponse response, Get(digest));
    const TrainerReference reference = FromProto(response.reference());
    ESPALIER_RETURN_IF_ERROR(Check(reference));
    const std::string given = response.archive().empty() ? std::string() : Sha256Hex(response.archive());
    if (DigestOf(reference) != digest || given != reference.archive) {
      return MakeError(ErrorCode::kInternal, "the master gave other code than was asked for");
    }
    ESPALIER_RETURN_IF_ERROR(MayRun(host, reference));
    ESPALIER_ASSIGN(const std::string python, PythonFor(host, reference));
    const fs::path archive = ArchivePath(folder, digest, ParseEntry(reference.entry));
    if (!archive.empty()) ESPALIER_RETURN_IF_ERROR(WriteWhole(archive, response.archive()));
    return CommandOf(host, reference, python, archive);
  }

  const std::string token;
  const fs::path folder;
  const Host host;
  LoopQueue& queue;
  const std::unique_ptr<v1::NodeManagerService::Stub> stub;
  std::mutex mutex;
  bool ending = false;
  std::shared_ptr<grpc::ClientContext> under_way;
  WorkThreads thread{1};  // last, so that it ends first
};

ReferenceAccess::ReferenceAccess(const std::shared_ptr<grpc::Channel>& master, std::string token, fs::path folder,
                                 Host host, LoopQueue& queue)
    : parts_(std::make_unique<Parts>(master, std::move(token), std::move(folder), std::move(host), queue)) {
  std::error_code ignored;
  fs::remove_all(parts_->folder, ignored);
  fs::create_directories(parts_->folder, ignored);
}

ReferenceAccess::~ReferenceAccess() {
  const std::lock_guard lock(parts_->mutex);
  parts_->ending = true;
  if (parts_->under_way) parts_->under_way->TryCancel();
}

void ReferenceAccess::Fetch(Digest128 reference, std::function<void(Result<std::vector<std::string>>)> done) {
  parts_->thread.Do([parts = parts_.get(), reference, done = std::move(done)] {
    parts->queue.Post([done, prepared = parts->Prepare(reference)] { done(prepared); });
  });
}

void ReferenceAccess::Forget(Digest128 reference) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(parts_->folder, ignored)) {
    if (entry.path().filename().string().starts_with(ToHex(reference))) files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove_all(file, ignored);  // the archive, and what workers unpacked
}

}  // namespace espalier::node
