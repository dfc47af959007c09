// The benches, one a file; README.md says what each number means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/figures.h"

namespace espalier::bench {

// A small run takes seconds and shows that the bench works; its numbers mean nothing.
struct Size {
  bool small = false;
  std::int64_t Of(std::int64_t full, std::int64_t when_small) const { return small ? when_small : full; }
};

void RunBridge(Figures& figures, Size size);
void RunCrowd(Figures& figures, Size size);
void RunDeadlines(Figures& figures, Size size);
void RunDecide(Figures& figures, Size size);
void RunGpu(Figures& figures, Size size);
void RunMakespan(Figures& figures, Size size);
void RunFairShare(Figures& figures, Size size);
void RunPacking(Figures& figures, Size size);
void RunMergeAware(Figures& figures, Size size);
void RunSubmit(Figures& figures, Size size);
void RunReal(Figures& figures, Size size);
void RunReplay(Figures& figures, Size size);
void RunReports(Figures& figures, Size size);
void RunRay(Figures& figures, Size size);
void RunRestart(Figures& figures, Size size);
void RunRivals(Figures& figures, Size size);
void RunSaving(Figures& figures, Size size);
void RunSimulate(Figures& figures, Size size);
void RunTables(Figures& figures, Size size);
void RunThesis(Figures& figures, Size size);
void RunTimeSlices(Figures& figures, Size size);
void RunTimeToTarget(Figures& figures, Size size);
void RunTpe(Figures& figures, Size size);
void RunTurnaround(Figures& figures, Size size);
void RunWatchers(Figures& figures, Size size);
void RunOverhead(Figures& figures, Size size);
void RunPreempt(Figures& figures, Size size);

// The part of `reports` that a process of its own does: connects as a new client, attaches to the study of that name,
// submits trial number `number`, and prints the milliseconds that all this took.
void FirstSubmission(const std::string& address, const std::string& study, std::int64_t number);

// The part of `watchers` that a process of its own does: watches the study as 250 watchers of each of these users, to
// its end; writes the file once all are told how far it is, and prints how many events each was sent. Gives up where
// one of them comes out of turn.
void WatchStudy(const std::string& address, std::int64_t study, const std::string& ready_file,
                const std::vector<std::string>& tokens);

}  // namespace espalier::bench
