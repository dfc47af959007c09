#include "client/tuner_host/tuner_host.h"

#include <limits>

#include "base/clock.h"
#include "client/study_file/study_file.h"
#include "client/tuner_driver.h"

namespace espalier {
namespace {

// Between two looks for studies that nobody carries on.
constexpr Seconds kLookPeriod{1};
// Each takes a thread and a stream of events, of which the master gives a host so many.
constexpr std::size_t kStudiesMax = 400;
// Until a study is tried again whose batch was more than a quota allows.
constexpr Seconds kQuotaPause{30};
constexpr Seconds kForGood{std::numeric_limits<double>::infinity()};

}  // namespace

TunerHost::~TunerHost() {
  Stop();
  for (Carried& carried : carried_) carried.thread.join();
}

Result<void> TunerHost::Run() {
  while (true) {
    Tidy();
    while (carried_.size() < kStudiesMax) {
      const Result<v1::FindStudyResponse> found = Find();
      if (!found.has_value() && !MayRetry(found.error())) return tl::unexpected<Error>(found.error());
      if (!found.has_value() || found->study_id() == 0) break;
      Begin(StudyId{found->study_id()}, found->definition());
    }
    std::unique_lock lock(mutex_);
    if (stop_.wait_for(lock, kLookPeriod, [&] { return stopping_; })) return {};
  }
}

void TunerHost::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (Carried& carried : carried_) carried.reader.Cancel();
  stop_.notify_all();
}

Result<v1::FindStudyResponse> TunerHost::Find() {
  v1::FindStudyRequest request;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return v1::FindStudyResponse();
    std::erase_if(left_, [now = MonotonicNow()](const auto& left) { return left.second <= now; });
    for (const auto& [study, until] : left_) request.add_except_study_ids(study.value);
    for (const Carried& carried : carried_) request.add_except_study_ids(carried.id.value);
  }
  return connection_.FindStudyToTune(request);
}

void TunerHost::Begin(StudyId study, const std::string& definition) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  Carried& carried = carried_.emplace_back(connection_.AsTunerHost(), study);
  carried.thread = std::thread([this, &carried, definition] { Carry(carried, definition); });
}

void TunerHost::Carry(Carried& carried, const std::string& definition) {
  const std::string name = "study " + std::to_string(carried.id.value);
  std::optional<Error> error;
  if (const Result<StudyFile> file = ParseDefinition(definition); !file.has_value()) {
    error = file.error();
  } else {
    say_(name + " is carried on by " + file->tuner);
    const std::unique_ptr<tuners::Tuner> tuner = MakeTunerOf(*file);
    const Result<DriveReport> report = Drive(
        *tuner, connection_.AsTunerHost(), carried.id, carried.reader,
        {.metric = file->specification.metric, .goal = file->specification.goal, .on_settled = {}, .on_progress = {}});
    if (!report.has_value()) error = report.error();
  }
  const std::lock_guard lock(mutex_);
  carried.over = true;
  if (!error) return say_(name + " is finished");
  if (stopping_ || MayRetry(*error)) return;
  const bool is_over_quota = error->code == ErrorCode::kResourceExhausted;
  left_[carried.id] = is_over_quota ? MonotonicNow() + kQuotaPause : kForGood;
  say_(name + " cannot be carried on: " + (error->field.empty() ? "" : error->field + ": ") + error->message);
}

void TunerHost::Tidy() {
  std::list<Carried> over;
  {
    const std::lock_guard lock(mutex_);
    for (auto each = carried_.begin(); each != carried_.end();) {
      const auto next = std::next(each);
      if (each->over) over.splice(over.end(), carried_, each);
      each = next;
    }
  }
  for (Carried& carried : over) carried.thread.join();
}

}  // namespace espalier
