// The trainer protocol's words, which the core speaks as its own.
#pragma once

#include "worker/protocol/worker_message.h"

namespace espalier::node {

using worker::CheckpointIdentity;
using worker::Describe;
using worker::Description;
using worker::Done;
using worker::Evaluate;
using worker::Evaluated;
using worker::Failure;
using worker::FailureKind;
using worker::Heartbeat;
using worker::Init;
using worker::Load;
using worker::Proceed;
using worker::ReplyKind;
using worker::RequestKind;
using worker::Save;
using worker::Saved;
using worker::Setup;
using worker::Train;
using worker::Trained;
using worker::Values;
using worker::ValuesAtStep;
using worker::WorkerDeath;
using worker::WorkerReply;
using worker::WorkerRequest;

}  // namespace espalier::node
