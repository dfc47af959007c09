// What has left memory with retired studies, in PostgreSQL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "master/core/history_store.h"

namespace espalier::master {

class PostgresHistoryStore : public HistoryStore {
 public:
  // Connects when it is first used. `epoch`: of this process's leadership. REQUIRES: the database is migrated.
  PostgresHistoryStore(std::string database_url, std::int64_t epoch);
  ~PostgresHistoryStore() override;

  // One call at a time: others wait.
  Result<StudyHistory> Read(StudyId study) override;
  Result<std::optional<StudyId>> StudyOf(TrialId trial) override;
  Result<std::optional<AnsweredRequest>> FindRequest(const RequestKey& key) override;
  Result<std::int64_t> ForgetRequests(Time before) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::master
