-- The service around it: who may call, its servers, its settings, and the studies that it is done with.

CREATE TABLE service_user (
  name         text CONSTRAINT service_user_is_known_by_its_name PRIMARY KEY,
  team         text NOT NULL,
  role         text NOT NULL,
  token_sha256 text,
  servers      text[] NOT NULL,
  CONSTRAINT service_user_role_is_known CHECK (role IN ('member', 'administrator', 'node', 'tuner')),
  CONSTRAINT service_user_is_of_no_team_as_a_node CHECK ((role IN ('node', 'tuner')) = (team = '')),
  CONSTRAINT service_user_is_bound_to_servers_as_a_node CHECK ((role = 'node') = (cardinality(servers) > 0)),
  CONSTRAINT service_user_token_is_of_one_user UNIQUE (token_sha256),
  CONSTRAINT service_user_token_is_kept_as_sha256 CHECK (token_sha256 ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE service_user IS 'Who may call, for good: team and role, the servers that a node manager may be (gpu-*: all that begin so), and the SHA-256 of the token; a user who was removed has none.';

CREATE TABLE server_drain (
  server     text CONSTRAINT server_drain_is_one_per_server PRIMARY KEY,
  drained_by text        NOT NULL,
  why        text        NOT NULL,
  since      timestamptz NOT NULL
);
COMMENT ON TABLE server_drain IS 'Servers that an administrator takes out of service: they are given no new run.';

CREATE TABLE scheduling_policy (
  only_row  boolean     NOT NULL DEFAULT true,
  name      text        NOT NULL,
  chosen_by text        NOT NULL,
  chosen_at timestamptz NOT NULL,
  CONSTRAINT scheduling_policy_is_one_row PRIMARY KEY (only_row),
  CONSTRAINT scheduling_policy_is_one_row_only CHECK (only_row)
);
COMMENT ON TABLE scheduling_policy IS 'What decides which work is trained next, as an administrator chose it; no row: nobody has chosen, and the default does.';

CREATE TABLE trainer_check (
  trainer     bytea       NOT NULL,
  device_kind text        NOT NULL,
  outcome     text        NOT NULL,
  message     text        NOT NULL,
  found_at    timestamptz NOT NULL,
  CONSTRAINT trainer_check_trainer_has_16_bytes CHECK (octet_length(trainer) = 16),
  CONSTRAINT trainer_check_outcome_is_known CHECK (outcome IN ('passed', 'failed', 'given up'))
);
CREATE UNIQUE INDEX trainer_check_is_done_once ON trainer_check (trainer, md5(device_kind));
COMMENT ON TABLE trainer_check IS 'What came of checking trainers in users'' own code, by digest of code, schema and data.';

CREATE TABLE team (
  name   text CONSTRAINT team_is_known_by_its_name PRIMARY KEY,
  weight double precision NOT NULL CONSTRAINT team_weighs_something CHECK (weight > 0)
);
COMMENT ON TABLE team IS 'Teams whose weight was set, what is their due of the slots; others weigh 1, as studies among their team''s begin.';

CREATE TABLE quota (
  of_whom      text NOT NULL,
  name         text NOT NULL,
  open_trials  bigint,
  plan_nodes   bigint,
  stored_bytes bigint,
  device_time  double precision,
  CONSTRAINT quota_is_one_per_party PRIMARY KEY (of_whom, name),
  CONSTRAINT quota_is_of_a_team_or_a_user CHECK (of_whom IN ('team', 'user')),
  CONSTRAINT quota_limits_something CHECK (num_nonnulls(open_trials, plan_nodes, stored_bytes, device_time) > 0),
  CONSTRAINT quota_is_not_negative CHECK (least(open_trials, plan_nodes, stored_bytes, device_time) >= 0)
);
COMMENT ON TABLE quota IS 'What teams and users may use at most; null: no limit. device_time: seconds for which runs hold slots, in a day (UTC).';

CREATE TABLE retired_study (
  study_id             bigint CONSTRAINT retired_study_is_retired_once PRIMARY KEY REFERENCES study (id),
  retired_at           timestamptz NOT NULL,
  waiting              bigint NOT NULL,
  idle                 bigint NOT NULL,
  done                 bigint NOT NULL,
  failed               bigint NOT NULL,
  cancelled            bigint NOT NULL,
  claimed_steps        bigint NOT NULL,
  best_trial_id        bigint,
  best                 double precision,
  best_step            bigint,
  unique_steps         bigint NOT NULL,
  trained_steps        bigint NOT NULL,
  re_derived_steps     bigint NOT NULL,
  wasted_steps         bigint NOT NULL,
  reused_steps         bigint NOT NULL,
  wanted_steps         bigint NOT NULL,
  wanted_once_steps    bigint NOT NULL,
  wanted_trained_steps bigint NOT NULL,
  claimed_time         numeric NOT NULL,
  unique_time          numeric NOT NULL,
  device_time          bigint NOT NULL,
  shared_time          bigint NOT NULL,
  kept_node_ids        bigint[] NOT NULL,
  kept_steps           bigint[] NOT NULL,
  CONSTRAINT retired_study_best_is_whole CHECK (num_nonnulls(best_trial_id, best, best_step) IN (0, 3)),
  CONSTRAINT retired_study_keeps_points CHECK (cardinality(kept_node_ids) = cardinality(kept_steps))
);
COMMENT ON COLUMN retired_study.waiting IS 'Its trials by how they stand, as those that follow.';
COMMENT ON COLUMN retired_study.claimed_time IS 'In nanoseconds of measured steps, as unique_time; device_time and shared_time are what was charged, in microseconds.';
COMMENT ON COLUMN retired_study.kept_node_ids IS 'With kept_steps: the points whose states it keeps from being evicted.';
COMMENT ON TABLE retired_study IS 'What a finished study has come to, of which the master keeps nothing else in memory.';
