// Where protobuf messages and the domain meet on the master's side, besides what it shares with others
// (proto/convert_*.h).
#pragma once

#include "base/result.h"
#include "espalier/v1/checkpoint.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/node_manager.pb.h"
#include "espalier/v1/study.pb.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/output_store.h"
#include "master/core/series_store.h"
#include "master/core/views/bill.h"
#include "master/core/views/explain_stage.h"
#include "master/core/views/forecast.h"
#include "master/core/views/list_checkpoints.h"
#include "master/core/views/list_studies.h"
#include "master/core/views/list_trials.h"
#include "master/core/views/plan_view.h"
#include "master/core/views/study_progress.h"
#include "master/core/views/study_summary.h"
#include "proto/convert_node_protocol.h"
#include "proto/convert_schema.h"
#include "proto/convert_study_choices.h"
#include "proto/convert_time.h"
#include "proto/convert_trainer_reference.h"

namespace espalier::master {

using espalier::FromProto;
using espalier::ToProto;

// Of what master and clients share.
using espalier::FromProto;
using espalier::ToProto;

// From the wire. Error: kInvalidArgument with the field.
Result<StudySpecification> FromProto(const v1::StudySpecification& message);
NewTrial FromProto(const v1::NewTrial& message);
SubmitBatch FromProto(const v1::SubmitRequest& message);
ContinueTrial FromProto(const v1::ContinueTrialRequest& message);
// Without the size of the page.
StudyQuery FromProto(const v1::ListStudiesRequest& message);
TrialQuery FromProto(const v1::ListTrialsRequest& message, StudyId study);
Point FromProto(const v1::StagePoint& message);
Result<NodeMessage> FromProto(const v1::SynchronizeRequest& message, SessionId session);

// To the wire.
v1::SynchronizeResponse ToProto(const SendOrders& send);
v1::StudyEvent ToProto(const StudyEvent& event, std::int64_t number, Time at);
v1::StudyProgress ToProto(const StudyProgress& progress);
v1::StudySummary ToProto(const StudySummary& summary, const Study& study);
v1::StudyListing ToProto(const StudyListing& listing, const Study& study);
v1::TrialEvaluation ToProto(const TrialEvaluation& evaluation);
v1::Trial ToProto(const TrialSummary& summary, const Trial& trial);
v1::PlanNode ToProto(const PlanNodeView& view);
v1::PlacedStage ToProto(const PlacedStage& placed);
v1::TrainingCosts ToProto(const NodeCosts& costs);
v1::ExplainStageResponse ToProto(const ExplainedStage& explained);
v1::ListedCheckpoint ToProto(const ListedCheckpoint& listed);
v1::ListedRun ToProto(const Run& run, StudyId study);  // as that study's
v1::ForecastResponse ToProto(const Forecast& forecast);
v1::ServerDrain ToProto(const Drain& drain);
v1::GetPolicyResponse ToProto(const PolicyChoice& choice);  // with those that there are
v1::TeamBill ToProto(const TeamBill& bill);
v1::PrintedPiece ToProto(const StoredOutput& output);
v1::MetricSeries ToProto(const StoredSeries& series);

}  // namespace espalier::master
