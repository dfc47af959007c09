-- Trainers that take hyper-parameters which they do not declare, and the types that studies give to those.

ALTER TABLE trainer_schema ADD COLUMN takes_any boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN trainer_schema.takes_any IS 'Whether the trainer also takes hyper-parameters that it does not declare.';

CREATE TABLE study_hyper_parameter (
  study_id bigint NOT NULL REFERENCES study (id),
  name     text   NOT NULL,
  type     text   NOT NULL,
  CONSTRAINT study_hyper_parameter_has_one_type PRIMARY KEY (study_id, name),
  CONSTRAINT study_hyper_parameter_type_is_known CHECK (type IN ('boolean', 'integer', 'floating', 'text'))
);
COMMENT ON TABLE study_hyper_parameter IS 'The type of a hyper-parameter that trials of the study may name although the trainer does not declare it.';
