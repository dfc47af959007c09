-- The same rule about a study's events as before, in a form that takes a third of the time to check: as a text of the kind and, for
-- each column, whether it is there.

ALTER TABLE study_event
  DROP CONSTRAINT study_event_has_the_columns_of_its_kind,
  ADD CONSTRAINT study_event_has_the_columns_of_its_kind CHECK (
    concat(kind, ': ', trial_id IS NOT NULL, claim_id IS NOT NULL, step IS NOT NULL, claim_state IS NOT NULL,
           cancelled IS NOT NULL, message IS NOT NULL)
    IN ('trial submitted: tfffff', 'claim made: tttfff', 'claim settled: ttttft', 'trial closed: tffftf',
        'study finished: ffffff'));
