#include "client/tuner_driver.h"

#include "client/submit.h"
#include "client/tuners/driver.h"

namespace espalier {
namespace {

class StudyDrive {
 public:
  StudyDrive(tuners::Tuner& tuner, StudyPort& port, StudyId study, EventReader& reader, const DriveOptions& options)
      : driver_(tuner, options.metric, options.goal), port_(port), study_(study), reader_(reader), options_(options) {}

  Result<DriveReport> Run() {
    bool caught_up = false;
    while (!driver_.finished()) {
      ESPALIER_ASSIGN(const EventsRead read, reader_.Next());
      for (const StudyEvent& event : read.events) Take(event);
      if (read.progress && options_.on_progress) options_.on_progress(*read.progress);
      caught_up = caught_up || read.progress.has_value();
      if (!caught_up) continue;
      ESPALIER_RETURN_IF_ERROR(SubmitAll());
      if (options_.only_begin) break;
      if (driver_.WaitsForNothing() && !refused_) {
        return MakeError(ErrorCode::kInternal, "the tuner waits for nothing");
      }
    }
    return DriveReport{.trial_count = driver_.trial_count(),
                       .batch_count = driver_.batch_count(),
                       .cancelled = refused_ || (driver_.finished() && !driver_.tuner_finished())};
  }

 private:
  void Take(const StudyEvent& event) {
    driver_.OnEvent(event);
    const auto* settled = std::get_if<ClaimSettled>(&event);
    if (settled == nullptr || !options_.on_settled) return;
    if (const auto index = driver_.IndexOf(settled->trial)) options_.on_settled(*index, *settled);
  }

  Result<void> SubmitAll() {
    while (!refused_) {
      const std::optional<tuners::NumberedBatch> next = driver_.Next();
      if (!next) return {};
      const std::string request_id = std::to_string(study_.value) + "/" + std::to_string(next->number);
      const Result<BatchIds> ids = Submit(port_, study_, next->batch, request_id, next->number);
      if (!ids.has_value()) ESPALIER_RETURN_IF_ERROR(OnRefused(ids.error()));
    }
    return {};
  }

  // A study that somebody cancelled takes no more batches, and that is no failure.
  Result<void> OnRefused(const Error& error) {
    if (error.code != ErrorCode::kFailedPrecondition || !error.field.empty()) return tl::unexpected<Error>(error);
    refused_ = true;  // its last event will come
    return {};
  }

  tuners::Driver driver_;
  StudyPort& port_;
  const StudyId study_;
  EventReader& reader_;
  const DriveOptions& options_;
  bool refused_ = false;  // the study takes no more batches
};

}  // namespace

Result<DriveReport> Drive(tuners::Tuner& tuner, StudyPort& port, StudyId study, EventReader& reader,
                          const DriveOptions& options) {
  return StudyDrive(tuner, port, study, reader, options).Run();
}

Result<DriveReport> Drive(tuners::Tuner& tuner, StudyPort& port, StudyId study, const DriveOptions& options) {
  EventReader reader(port, study, true, options.on_lost);
  return Drive(tuner, port, study, reader, options);
}

}  // namespace espalier
