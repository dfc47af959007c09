-- What is trained, for whom, and what came of it. States are texts with their allowed values; moments are given by the master's clock.
-- What is updated has room on its pages for the new version, and no index on what changes: such updates stay in their place (HOT). A row
-- that is settled once, with its neighbours in one transaction, needs as much room again.

CREATE TABLE leadership (
  epoch      bigint      NOT NULL,
  holder     text        NOT NULL,
  renewed_at timestamptz NOT NULL,
  -- Drawn at random for each leadership: what it orders carries it.
  id         bigint      NOT NULL,
  only_row   boolean     NOT NULL DEFAULT true,
  -- The key that writers share and a takeover changes: a takeover waits for them, a renewal does not.
  CONSTRAINT leadership_is_known_by_its_epoch PRIMARY KEY (epoch),
  CONSTRAINT leadership_is_one_row UNIQUE (only_row),
  CONSTRAINT leadership_is_one_row_only CHECK (only_row)
);
COMMENT ON TABLE leadership IS 'The one master that may write: its epoch, its name, and when it last said that it lives (by this server''s clock).';

CREATE TABLE past_leadership (
  id    bigint CONSTRAINT past_leadership_is_known_by_its_id PRIMARY KEY,
  epoch bigint NOT NULL
);
COMMENT ON TABLE past_leadership IS 'Every leadership there ever was, the present one too: ids that carry another one were given out by a database that is gone.';

CREATE TABLE trainer_schema (
  digest    bytea   CONSTRAINT trainer_schema_is_known_by_its_digest PRIMARY KEY,
  takes_any boolean NOT NULL,
  CONSTRAINT trainer_schema_digest_has_16_bytes CHECK (octet_length(digest) = 16)
);
COMMENT ON TABLE trainer_schema IS 'A set of hyper-parameters, stored once: whoever declares the same set shares the row.';
COMMENT ON COLUMN trainer_schema.takes_any IS 'Whether the trainer also takes hyper-parameters that it does not declare.';

CREATE TABLE hyper_parameter (
  schema        bytea   NOT NULL REFERENCES trainer_schema (digest),
  position      integer NOT NULL,
  name          text    NOT NULL,
  type          text    NOT NULL,
  default_value text    NOT NULL,
  initial       boolean NOT NULL,
  CONSTRAINT hyper_parameter_has_one_place_in_its_schema PRIMARY KEY (schema, position),
  CONSTRAINT hyper_parameter_has_a_name_of_its_own UNIQUE (schema, name),
  CONSTRAINT hyper_parameter_type_is_known CHECK (type IN ('boolean', 'integer', 'floating', 'text'))
);
COMMENT ON TABLE hyper_parameter IS 'What a trainer declares of one hyper-parameter; the default in the notation of sequences.';

CREATE TABLE offer (
  digest            bytea       CONSTRAINT offer_is_known_by_its_digest PRIMARY KEY,
  trainer           text        NOT NULL,
  code_digest       text        NOT NULL,
  data              text        NOT NULL,
  data_digest       text        NOT NULL,
  evaluation_digest text        NOT NULL,
  schema            bytea       NOT NULL REFERENCES trainer_schema (digest),
  metrics           text[]      NOT NULL,
  first_seen        timestamptz NOT NULL,
  listed            boolean     NOT NULL,
  CONSTRAINT offer_digest_has_16_bytes CHECK (octet_length(digest) = 16)
);
COMMENT ON TABLE offer IS 'A trainer with a data set as some node manager once offered it. Of several of one trainer and data, the one first seen last is the newest.';
COMMENT ON COLUMN offer.listed IS 'Whether a server ever had it of its own: then whoever names the trainer gets it. Else it came of a reference alone.';

CREATE TABLE archive (
  sha256    text        CONSTRAINT archive_is_known_by_its_sha256 PRIMARY KEY,
  body      bytea       NOT NULL,
  user_name text        NOT NULL,
  put_at    timestamptz NOT NULL,
  CONSTRAINT archive_sha256_has_64_digits CHECK (length(sha256) = 64)
);
COMMENT ON TABLE archive IS 'Code of users, as it travels to servers; of several users who put the same, the first.';

CREATE TABLE trainer_reference (
  digest        bytea  CONSTRAINT trainer_reference_is_known_by_its_digest PRIMARY KEY,
  entry         text   NOT NULL,
  archive       text   NOT NULL,
  python        text   NOT NULL,
  client_python text   NOT NULL,
  machine       text   NOT NULL,
  uid           bigint NOT NULL,
  folder        text   NOT NULL,
  data          text[] NOT NULL,
  data_seen     text   NOT NULL,
  environment   text[] NOT NULL,
  user_name     text   NOT NULL,
  team          text   NOT NULL,
  CONSTRAINT trainer_reference_digest_has_16_bytes CHECK (octet_length(digest) = 16)
);
COMMENT ON TABLE trainer_reference IS 'What names a trainer of a user''s own. archive: its sha256, kept or not; empty where no code travels. environment: NAME=value.';

CREATE TABLE training_identity (
  digest       bytea CONSTRAINT training_identity_is_known_by_its_digest PRIMARY KEY,
  trainer      text   NOT NULL,
  code_digest  text   NOT NULL,
  data         text   NOT NULL,
  data_digest  text   NOT NULL,
  step_updates bigint NOT NULL,
  schema       bytea  NOT NULL REFERENCES trainer_schema (digest),
  CONSTRAINT training_identity_digest_has_16_bytes CHECK (octet_length(digest) = 16),
  CONSTRAINT training_identity_step_has_no_negative_length CHECK (step_updates >= 0)
);
COMMENT ON TABLE training_identity IS 'What decides a training''s bits besides the sequences; step_updates 0: a step is an epoch.';

CREATE TABLE study (
  id             bigint CONSTRAINT study_is_known_by_its_id PRIMARY KEY,
  user_name      text        NOT NULL,
  team           text        NOT NULL,
  name           text        NOT NULL,
  trainer        text        NOT NULL,
  data           text        NOT NULL,
  step_updates   bigint      NOT NULL,
  evaluate_every bigint      NOT NULL,
  metric         text        NOT NULL,
  goal           text        NOT NULL,
  scope          text        NOT NULL,
  definition     text        NOT NULL,
  training       bytea       NOT NULL REFERENCES training_identity (digest),
  device_kind    text        NOT NULL,
  evaluation     text        NOT NULL,
  metric_names   text[]      NOT NULL,
  created_at     timestamptz NOT NULL,
  first_run_id   bigint      NOT NULL,
  finished_at    timestamptz,
  closing        boolean     NOT NULL,
  cancelled      boolean     NOT NULL,
  reference      bytea       REFERENCES trainer_reference (digest),
  keep           text        NOT NULL,
  keep_now       text        NOT NULL,
  weight         double precision NOT NULL CONSTRAINT study_weighs_something CHECK (weight > 0),
  check_when     text        NOT NULL,
  hang_after     double precision,
  tuner          text        NOT NULL,
  asks_for_idle_slots boolean NOT NULL,
  stop_after       double precision,
  stop_device_time double precision,
  stop_metric      double precision,
  stopped          text    NOT NULL,
  reuse_study_id   bigint  REFERENCES study (id),
  reuse_until      bigint,
  may_stop         boolean NOT NULL,
  deadline         double precision CONSTRAINT study_deadline_is_after_some_time CHECK (deadline > 0),
  min_steps        bigint  NOT NULL,
  priority         double precision NOT NULL CONSTRAINT study_has_some_priority CHECK (priority > 0),
  CONSTRAINT study_reuses_up_to_a_step CHECK (reuse_until IS NULL OR (reuse_study_id IS NOT NULL AND reuse_until > 0)),
  CONSTRAINT study_hangs_after_some_time CHECK (hang_after > 0),
  CONSTRAINT study_check_when_is_known CHECK (check_when IN ('beside', 'first', 'off')),
  CONSTRAINT study_keep_is_known CHECK (keep IN ('best', 'all', 'none', 'claimed')),
  CONSTRAINT study_keep_now_is_known CHECK (keep_now IN ('best', 'all', 'none', 'claimed')),
  CONSTRAINT study_goal_is_known CHECK (goal IN ('min', 'max')),
  CONSTRAINT study_scope_is_known CHECK (scope IN ('nobody', 'study', 'team', 'everyone'))
);
COMMENT ON COLUMN study.first_run_id IS 'All runs that were ordered before it was created have smaller ids.';
COMMENT ON COLUMN study.stopped IS 'What its stop rule came to; empty: nothing. Times are in seconds.';
COMMENT ON COLUMN study.reuse_study_id IS 'Whose states its trials begin with, where there are some, instead of at Init: none behind the step reuse_until, if that is given.';
COMMENT ON COLUMN study.keep_now IS 'Which of its states are never evicted: as asked for (keep), until somebody changes it.';
COMMENT ON COLUMN study.tuner IS 'The built-in tuner that the definition names; empty: the user''s own.';
COMMENT ON TABLE study IS 'One optimization run of a user: what was asked for, and what it was resolved to. Running while finished_at is null.';

CREATE TABLE study_speed (
  study_id bigint NOT NULL REFERENCES study (id),
  slots    bigint NOT NULL CONSTRAINT study_speed_is_of_several_slots CHECK (slots > 1),
  speed    double precision NOT NULL,
  CONSTRAINT study_speed_is_one PRIMARY KEY (study_id, slots)
);
COMMENT ON TABLE study_speed IS 'How fast a study says that it trains on so many slots of a device together, against one of them.';

CREATE TABLE study_hyper_parameter (
  study_id bigint NOT NULL REFERENCES study (id),
  name     text   NOT NULL,
  type     text   NOT NULL,
  CONSTRAINT study_hyper_parameter_has_one_type PRIMARY KEY (study_id, name),
  CONSTRAINT study_hyper_parameter_type_is_known CHECK (type IN ('boolean', 'integer', 'floating', 'text'))
);
COMMENT ON TABLE study_hyper_parameter IS 'The type of a hyper-parameter that trials of the study may name although the trainer does not declare it.';

CREATE TABLE search_plan (
  id          bigint CONSTRAINT search_plan_is_known_by_its_id PRIMARY KEY,
  identity    bytea  NOT NULL,
  training    bytea  NOT NULL REFERENCES training_identity (digest),
  device_kind text   NOT NULL,
  scope       text   NOT NULL,
  team        text   NOT NULL,
  study_id    bigint NOT NULL,
  trial_id    bigint NOT NULL,
  CONSTRAINT search_plan_is_one_per_identity UNIQUE (identity),
  CONSTRAINT search_plan_scope_is_known CHECK (scope IN ('nobody', 'study', 'team', 'everyone'))
);
COMMENT ON COLUMN search_plan.team IS 'Of the scope team; else empty. Likewise study_id (of the scopes study and nobody) and trial_id (of nobody); else 0.';
COMMENT ON TABLE search_plan IS 'A prefix tree shared by all trials of one training identity, device kind and scope; identity is the digest of these.';

CREATE TABLE configuration (
  digest bytea CONSTRAINT configuration_is_known_by_its_digest PRIMARY KEY,
  body   bytea NOT NULL,
  CONSTRAINT configuration_digest_has_16_bytes CHECK (octet_length(digest) = 16)
);
COMMENT ON TABLE configuration IS 'One function for each hyper-parameter, as canonical bytes, stored once.';

CREATE TABLE plan_node (
  id            bigint CONSTRAINT plan_node_is_known_by_its_id PRIMARY KEY,
  plan_id       bigint NOT NULL REFERENCES search_plan (id),
  parent_id     bigint REFERENCES plan_node (id),
  start_step    bigint NOT NULL,
  configuration bytea  NOT NULL REFERENCES configuration (digest),
  origin_node_id bigint REFERENCES plan_node (id),
  origin_step    bigint,
  study_id       bigint NOT NULL,
  CONSTRAINT plan_node_is_one_per_prefix UNIQUE NULLS NOT DISTINCT
    (plan_id, parent_id, start_step, configuration, origin_node_id, origin_step),
  CONSTRAINT plan_node_origin_is_of_a_root CHECK (origin_node_id IS NULL OR parent_id IS NULL),
  CONSTRAINT plan_node_origin_is_a_point CHECK ((origin_node_id IS NULL) = (origin_step IS NULL) AND origin_step > 0),
  CONSTRAINT plan_node_root_starts_at_step_0 CHECK ((parent_id IS NULL) = (start_step = 0)),
  CONSTRAINT plan_node_starts_at_a_step CHECK (start_step >= 0)
);
COMMENT ON COLUMN plan_node.origin_node_id IS 'Of a root whose training begins with a state of another plan: that state''s point, with origin_step. Else null: it begins at Init.';
COMMENT ON COLUMN plan_node.study_id IS 'Whose trial entered it: for whom it counts. No foreign key: that would be looked up for every node, and a study is never deleted.';
COMMENT ON TABLE plan_node IS 'A piece of training: from start_step on under one configuration, going on from its parent. Only ever added.';

CREATE TABLE trial (
  id                   bigint CONSTRAINT trial_is_known_by_its_id PRIMARY KEY,
  study_id             bigint  NOT NULL REFERENCES study (id),
  plan_id              bigint  NOT NULL REFERENCES search_plan (id),
  leaf_id              bigint  NOT NULL REFERENCES plan_node (id),
  horizon_steps        bigint  NOT NULL,
  closed               boolean NOT NULL,
  cancelled            boolean NOT NULL,
  sequence_names       text[]  NOT NULL,
  sequence_expressions text[]  NOT NULL,
  label_policy         text,
  label                text,
  CONSTRAINT trial_label_is_some_policys CHECK ((label IS NULL) = (label_policy IS NULL)),
  CONSTRAINT trial_has_a_horizon CHECK (horizon_steps > 0),
  CONSTRAINT trial_is_closed_when_cancelled CHECK (closed OR NOT cancelled),
  CONSTRAINT trial_has_an_expression_for_each_name CHECK (cardinality(sequence_names) = cardinality(sequence_expressions))
) WITH (fillfactor = 80);
CREATE INDEX trial_is_found_by_its_study ON trial (study_id);
COMMENT ON TABLE trial IS 'A sequence for each hyper-parameter, entered into a plan up to its horizon; leaf_id is its last plan node.';
COMMENT ON COLUMN trial.label IS 'What the policy of that name has written on it, for people.';
COMMENT ON COLUMN trial.sequence_expressions IS 'What the tuner wrote for the hyper-parameter of the same place in sequence_names, in the notation. What is not there is at its default.';

CREATE TABLE evaluation (
  id       integer GENERATED ALWAYS AS IDENTITY CONSTRAINT evaluation_is_known_by_its_id PRIMARY KEY,
  identity text    NOT NULL,
  CONSTRAINT evaluation_is_one_per_identity UNIQUE (identity)
);
COMMENT ON TABLE evaluation IS 'What measures: the digest of an evaluation, written once however often it measures.';

CREATE TABLE claim (
  id            bigint CONSTRAINT claim_is_known_by_its_id PRIMARY KEY,
  trial_id      bigint  NOT NULL REFERENCES trial (id),
  plan_node_id  bigint  NOT NULL REFERENCES plan_node (id),
  step          bigint  NOT NULL,
  evaluation_id integer NOT NULL REFERENCES evaluation (id),
  state         text    NOT NULL,
  CONSTRAINT claim_state_is_known CHECK (state IN ('waiting', 'done', 'failed', 'cancelled')),
  CONSTRAINT claim_is_of_a_step CHECK (step > 0)
) WITH (fillfactor = 50);
CREATE INDEX claim_is_found_by_its_trial ON claim (trial_id);
COMMENT ON TABLE claim IS 'A trial''s interest in the metrics at a point; of the evaluation ''state'', in the state there alone. Claims alone order training.';

CREATE TABLE point (
  plan_node_id    bigint NOT NULL REFERENCES plan_node (id),
  step            bigint NOT NULL,
  state_sha256    text,
  disputed        boolean NOT NULL,
  failure_kind    text,
  failure_message text,
  CONSTRAINT point_is_one_per_plan_node_and_step PRIMARY KEY (plan_node_id, step),
  CONSTRAINT point_is_at_a_step CHECK (step > 0),
  CONSTRAINT point_failure_kind_is_known CHECK (failure_kind IN ('diverged', 'finished', 'trainer', 'out of memory', 'crash')),
  CONSTRAINT point_failure_has_kind_and_message CHECK ((failure_kind IS NULL) = (failure_message IS NULL))
);
COMMENT ON TABLE point IS 'What is known after so many steps, the last of them under this plan node: the state''s digest (it outlives the checkpoint; disputed: trained again, the state came out otherwise), and why training cannot go past.';

CREATE TABLE checkpoint (
  plan_node_id bigint      NOT NULL,
  step         bigint      NOT NULL,
  file         text        NOT NULL,
  size_bytes   bigint      NOT NULL,
  run_id       bigint      NOT NULL,
  stored_at    timestamptz NOT NULL,
  CONSTRAINT checkpoint_is_one_per_point PRIMARY KEY (plan_node_id, step),
  CONSTRAINT checkpoint_is_of_a_point FOREIGN KEY (plan_node_id, step) REFERENCES point (plan_node_id, step),
  CONSTRAINT checkpoint_has_no_negative_size CHECK (size_bytes >= 0)
);
COMMENT ON TABLE checkpoint IS 'The file that holds a point''s complete state, and the run that saved it. Of several files for one point this names the one that counts.';

CREATE TABLE metric (
  plan_node_id  bigint             NOT NULL REFERENCES plan_node (id),
  step          bigint             NOT NULL,
  evaluation_id integer            NOT NULL REFERENCES evaluation (id),
  names         text[]             NOT NULL,
  measured      double precision[] NOT NULL,
  CONSTRAINT metric_is_of_a_point_and_an_evaluation PRIMARY KEY (plan_node_id, step, evaluation_id),
  CONSTRAINT metric_is_at_a_step CHECK (step > 0),
  CONSTRAINT metric_has_a_value_for_each_name CHECK (cardinality(names) = cardinality(measured))
);
COMMENT ON TABLE metric IS 'What an evaluation measured at a point: of each name the value of the same place. Stored once, the first stays. NaN is a value.';

CREATE TABLE evaluation_failure (
  plan_node_id bigint NOT NULL REFERENCES plan_node (id),
  step         bigint NOT NULL,
  evaluation   text   NOT NULL,
  message      text   NOT NULL,
  CONSTRAINT evaluation_failure_is_one_per_point_and_evaluation PRIMARY KEY (plan_node_id, step, evaluation),
  CONSTRAINT evaluation_failure_is_at_a_step CHECK (step > 0)
);
COMMENT ON TABLE evaluation_failure IS 'Why an evaluation at a point failed for good. It fails claims of that evaluation only.';

CREATE TABLE attempt (
  plan_node_id  bigint  NOT NULL REFERENCES plan_node (id),
  from_step     bigint  NOT NULL,
  evaluation    text    NOT NULL,
  crashes       bigint  NOT NULL,
  kills         bigint  NOT NULL,
  unusable      bigint  NOT NULL,
  earliest_step bigint  NOT NULL,
  servers       text[]  NOT NULL,
  lost_servers  text[]  NOT NULL,
  begun_node_id bigint  NOT NULL REFERENCES plan_node (id),
  begun_step    bigint  NOT NULL,
  not_before    timestamptz,
  held          boolean NOT NULL,
  log           text    NOT NULL,
  demand_compute integer NOT NULL,
  demand_bytes   bigint  NOT NULL,
  CONSTRAINT attempt_is_counted_once PRIMARY KEY (plan_node_id, from_step, evaluation),
  CONSTRAINT attempt_counts_are_not_negative CHECK (crashes >= 0 AND kills >= 0 AND unusable >= 0 AND from_step >= 0)
);
COMMENT ON COLUMN attempt.demand_compute IS 'What training there takes of one device, in thousandths of its compute, since it was out of memory with less; demand_bytes: of its memory, where that is known. 0: no more than others.';
COMMENT ON TABLE attempt IS 'What failed under a plan node from the last checkpoint before it (from_step 0: Init), how often, and until when it pauses. evaluation: of one there; empty: training.';

CREATE TABLE trained_range (
  plan_node_id bigint           NOT NULL REFERENCES plan_node (id),
  run_id       bigint           NOT NULL,
  number       bigint           NOT NULL GENERATED ALWAYS AS IDENTITY,
  from_step    bigint           NOT NULL,
  to_step      bigint           NOT NULL,
  seconds      double precision NOT NULL,
  CONSTRAINT trained_range_is_one_per_plan_node_and_run PRIMARY KEY (plan_node_id, run_id),
  CONSTRAINT trained_range_goes_forward CHECK (from_step <= to_step)
) WITH (fillfactor = 80);
COMMENT ON TABLE trained_range IS 'Steps (from, to] of a plan node that a run trained, by its worker''s step log; number keeps the order of arrival.';

CREATE TABLE measurement (
  plan_node_id bigint NOT NULL REFERENCES plan_node (id),
  kind         text   NOT NULL,
  units        bigint NOT NULL,
  total        bigint NOT NULL,
  CONSTRAINT measurement_is_one_per_plan_node_and_kind PRIMARY KEY (plan_node_id, kind),
  CONSTRAINT measurement_kind_is_known CHECK (kind IN ('step', 'set_up', 'load', 'save', 'evaluate', 'memory', 'state_bytes', 'device_memory',
                                                        'utilization')),
  CONSTRAINT measurement_is_of_something CHECK (units > 0 AND total >= 0)
) WITH (fillfactor = 80);
COMMENT ON TABLE measurement IS 'What steps, saves, evaluations, ... under a plan node took in all, in microseconds or bytes, utilization in thousandths, clipped as they came: the cost model.';

CREATE TABLE run (
  id                 bigint CONSTRAINT run_is_known_by_its_id PRIMARY KEY,
  leadership         bigint      NOT NULL,
  plan_id            bigint      NOT NULL REFERENCES search_plan (id),
  server             text        NOT NULL,
  slot               integer     NOT NULL,
  slot_count         integer     NOT NULL,
  device             integer     NOT NULL,
  compute            integer     NOT NULL,
  memory_bytes       bigint      NOT NULL,
  host_cores         integer     NOT NULL,
  incarnation        text        NOT NULL,
  offer              bytea       NOT NULL REFERENCES offer (digest),
  start_plan_node_id bigint      REFERENCES plan_node (id),
  start_step         bigint,
  start_file         text,
  generation         bigint      NOT NULL,
  preempt            boolean     NOT NULL,
  failed             boolean     NOT NULL,
  state              text        NOT NULL,
  ordered_at         timestamptz NOT NULL,
  charged_to         timestamptz NOT NULL,
  retired            boolean     NOT NULL DEFAULT false,
  CONSTRAINT run_state_is_known CHECK (state IN ('training', 'saving', 'ended')),
  CONSTRAINT run_holds_a_slot CHECK (slot_count > 0),
  CONSTRAINT run_start_is_a_point CHECK (num_nonnulls(start_plan_node_id, start_step, start_file) IN (0, 3))
) WITH (fillfactor = 50);
COMMENT ON COLUMN run.compute IS 'Of the device, in thousandths; memory_bytes 0: any of its memory; host_cores 0: all that its workers run on.';
COMMENT ON COLUMN run.retired IS 'It has left the master''s memory: all studies that it served are retired.';
CREATE INDEX run_is_in_memory ON run (id) WHERE NOT retired;
COMMENT ON TABLE run IS 'A path handed to a reservation of a device, from a slot on, with an id that is never used again. Starts from a checkpoint, or from Init where start_step is null.';

CREATE TABLE run_stage (
  run_id       bigint  NOT NULL REFERENCES run (id),
  position     integer NOT NULL,
  plan_node_id bigint  NOT NULL REFERENCES plan_node (id),
  from_step    bigint  NOT NULL,
  to_step      bigint  NOT NULL,
  CONSTRAINT run_stage_has_one_place_in_its_path PRIMARY KEY (run_id, position),
  CONSTRAINT run_stage_goes_forward CHECK (from_step < to_step)
);
COMMENT ON TABLE run_stage IS 'One stage of a run''s path: steps (from, to] under a plan node.';
CREATE INDEX run_stage_is_found_by_its_plan_node ON run_stage (plan_node_id);
CREATE INDEX run_is_found_by_its_start ON run (start_plan_node_id) WHERE start_plan_node_id IS NOT NULL;

CREATE TABLE run_output (
  number     bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT run_output_is_known_by_its_number PRIMARY KEY,
  run_id     bigint  NOT NULL REFERENCES run (id),
  position   bigint  NOT NULL,
  step       bigint  NOT NULL,
  size_bytes integer NOT NULL,
  body       text    NOT NULL,
  CONSTRAINT run_output_is_one_per_run_and_position UNIQUE (run_id, position),
  CONSTRAINT run_output_is_of_something CHECK (position >= 0 AND step >= 0 AND size_bytes > 0)
);
COMMENT ON TABLE run_output IS 'What a run''s worker printed on the way to a step (0: before the first), from a position of its output on. For people; its middle, and that of old runs, is deleted.';

CREATE TABLE server_log (
  number      bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT server_log_is_known_by_its_number PRIMARY KEY,
  server      text        NOT NULL,
  incarnation text        NOT NULL,
  position    bigint      NOT NULL,
  size_bytes  integer     NOT NULL,
  body        text        NOT NULL,
  stored_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT server_log_is_one_per_node_manager_and_position UNIQUE (server, incarnation, position),
  CONSTRAINT server_log_is_of_something CHECK (position >= 0 AND size_bytes > 0)
);
COMMENT ON TABLE server_log IS 'What a node manager wrote into its own log, from a position of it on. For people; the beginning of each server''s, and what is old, is deleted.';

CREATE TABLE training_metric (
  number       bigint GENERATED ALWAYS AS IDENTITY,
  plan_node_id bigint             NOT NULL REFERENCES plan_node (id),
  name         text               NOT NULL,
  first_step   bigint             NOT NULL,
  last_step    bigint             NOT NULL,
  steps        bigint[]           NOT NULL,
  body         double precision[] NOT NULL,
  CONSTRAINT training_metric_is_one_per_plan_node_name_and_steps PRIMARY KEY (plan_node_id, name, first_step, last_step),
  CONSTRAINT training_metric_is_of_each_step CHECK (cardinality(steps) > 0 AND cardinality(steps) = cardinality(body))
);
COMMENT ON TABLE training_metric IS 'What steps of a plan node returned as they were trained: one metric, a batch of steps. Steps may be in several batches, with the same values: they were trained again.';

CREATE TABLE run_study (
  run_id       bigint  NOT NULL REFERENCES run (id),
  study_id     bigint  NOT NULL REFERENCES study (id),
  serves       boolean NOT NULL,
  microseconds bigint  NOT NULL,
  CONSTRAINT run_study_is_one_per_run_and_study PRIMARY KEY (run_id, study_id)
) WITH (fillfactor = 50);
CREATE INDEX run_study_is_found_by_its_study ON run_study (study_id);
COMMENT ON TABLE run_study IS 'The studies whose claims a run serves, or has served, and the device time that each was charged.';

CREATE TABLE run_promise (
  id         bigint CONSTRAINT run_promise_is_known_by_its_id PRIMARY KEY,
  run_id     bigint      NOT NULL REFERENCES run (id),
  step       bigint      NOT NULL,
  owed       text        NOT NULL,
  state      text        NOT NULL,
  made_at    timestamptz NOT NULL,
  settled_at timestamptz,
  CONSTRAINT run_promise_owes_something_known CHECK (owed IN ('metrics', 'state')),
  CONSTRAINT run_promise_state_is_known CHECK (state IN ('open', 'kept', 'lost', 'withdrawn')),
  CONSTRAINT run_promise_is_open_until_settled CHECK ((state = 'open') = (settled_at IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX run_promise_is_found_by_its_run ON run_promise (run_id);
COMMENT ON TABLE run_promise IS 'What a run owes at a step of its path, its state or metrics, and what became of it.';

CREATE TABLE study_event (
  study_id      bigint NOT NULL REFERENCES study (id),
  number        bigint NOT NULL,
  kind          text   NOT NULL,
  trial_id      bigint,
  claim_id      bigint,
  step          bigint,
  claim_state   text,
  cancelled     boolean,
  message       text,
  metric_names  text[],
  metric_values double precision[],
  batch_number  bigint,
  happened_at   timestamptz NOT NULL,
  CONSTRAINT study_event_is_numbered_within_its_study PRIMARY KEY (study_id, number),
  CONSTRAINT study_event_numbers_begin_at_1 CHECK (number >= 1),
  -- As a text of the kind and, for each column, whether it is there: a third of the time that a comparison of each takes.
  CONSTRAINT study_event_has_the_columns_of_its_kind CHECK (
    concat(kind, ': ', trial_id IS NOT NULL, claim_id IS NOT NULL, step IS NOT NULL, claim_state IS NOT NULL,
           cancelled IS NOT NULL, message IS NOT NULL, batch_number IS NOT NULL,
           cardinality(metric_names) = cardinality(metric_values))
    IN ('trial submitted: tffffff', 'claim made: tttffff', 'claim settled: ttttftf', 'claim settled: ttttftft',
        'trial closed: tffftff', 'batch taken: fffffft', 'slot idle: fffffff', 'study finished: fffffff')),
  CONSTRAINT study_event_claim_state_is_known CHECK (claim_state IN ('waiting', 'done', 'failed', 'cancelled'))
);
COMMENT ON COLUMN study_event.metric_names IS 'Of what a claim that is done was answered with, each with its value in metric_values; null where that is the metric at its own point.';
COMMENT ON COLUMN study_event.batch_number IS 'Which batch of the study''s tuner was taken, from 0 on.';
COMMENT ON TABLE study_event IS 'What happened in a study, in order: what watch streams and a tuner replays.';

CREATE TABLE request (
  study_id     bigint   NOT NULL,
  request_id   text     NOT NULL,
  content      bytea    NOT NULL,
  produced_ids bigint[] NOT NULL,
  answered_at  timestamptz NOT NULL,
  CONSTRAINT request_is_answered_once PRIMARY KEY (study_id, request_id),
  CONSTRAINT request_content_has_16_bytes CHECK (octet_length(content) = 16)
);
COMMENT ON TABLE request IS 'A mutation''s id, the digest of its content and the ids it produced, so that it can be answered the same again; study_id 0: it created a study.';
