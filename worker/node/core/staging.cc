#include "worker/node/core/staging.h"

#include <algorithm>

namespace espalier::node {
namespace {

bool MayBeTakenLater(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kResourceExhausted;
}

}  // namespace

void Staging::Add(RunKey run, Upload upload) {
  std::int64_t& largest = largest_[upload.state.plan];
  largest = std::max(largest, upload.state.bytes);
  used_bytes_ += upload.state.bytes;
  uploads_.emplace(next_upload_++, OnItsWay{run, std::move(upload)});
}

std::vector<UploadFile> Staging::Begin(const std::function<Need(RunKey, Step)>& need_of, Seconds now) {
  int at_once = 0;
  std::vector<std::pair<Need, std::int64_t>> waiting;
  for (const auto& [id, upload] : uploads_) {
    at_once += upload.is_being_put ? 1 : 0;
    if (upload.is_being_put || now < upload.again_at) continue;
    waiting.emplace_back(need_of(upload.run, upload.upload.state.point.step), id);
  }
  std::ranges::sort(waiting);
  std::vector<UploadFile> begun;
  for (const auto& [need, id] : waiting) {
    if (at_once++ >= kUploadsAtOnce) break;
    OnItsWay& upload = uploads_.at(id);
    upload.is_being_put = true;
    begun.push_back(UploadFile{id, upload.upload.staged, upload.run, upload.upload.state});
  }
  return begun;
}

std::optional<Staging::Done> Staging::Finish(std::int64_t id, const Result<void>& stored, Seconds now) {
  const auto it = uploads_.find(id);
  if (it == uploads_.end()) return std::nullopt;
  OnItsWay& upload = it->second;
  if (!stored.has_value() && MayBeTakenLater(stored.error())) {
    upload.is_being_put = false;
    upload.again_at = now + upload.pause.Next();
    upload.refused = stored.error().message;
    last_refused_ = id;
    return Done{upload.run, upload.upload, false};
  }
  Done done{upload.run, std::move(upload.upload)};
  used_bytes_ -= done.upload.state.bytes;
  uploads_.erase(it);
  if (!stored.has_value()) return done;
  for (auto& [other, waiting] : uploads_) waiting.again_at = now;
  return done;
}

void Staging::Keep(std::int64_t report, Upload upload) {
  used_bytes_ += upload.state.bytes;
  kept_.emplace(report, std::move(upload));
}

std::vector<std::string> Staging::Acknowledge(std::int64_t report) {
  std::vector<std::string> files;
  for (auto it = kept_.begin(); it != kept_.end() && it->first <= report; it = kept_.erase(it)) {
    used_bytes_ -= it->second.state.bytes;
    files.push_back(std::move(it->second.staged));
  }
  return files;
}

std::int64_t Staging::Expected(PlanId plan) const {
  const auto it = largest_.find(plan);
  return it == largest_.end() ? 0 : it->second;
}

bool Staging::HasRoomFor(PlanId plan, const std::vector<PlanId>& being_written) const {
  if (room_bytes_ == 0 || (uploads_.empty() && kept_.empty() && being_written.empty())) return true;
  std::int64_t bytes = used_bytes_ + Expected(plan);
  for (const PlanId other : being_written) bytes += Expected(other);
  return bytes <= room_bytes_;
}

std::string Staging::WhyNotStored() const {
  const auto last = uploads_.find(last_refused_);
  if (last != uploads_.end()) return last->second.refused;
  const auto any = std::ranges::find_if(uploads_, [](const auto& each) { return !each.second.refused.empty(); });
  return any == uploads_.end() ? std::string() : any->second.refused;
}

}  // namespace espalier::node
