-- Users, and the tokens by which the master knows them.

CREATE TABLE service_user (
  name         text CONSTRAINT service_user_is_known_by_its_name PRIMARY KEY,
  team         text NOT NULL,
  role         text NOT NULL,
  token_sha256 text,
  CONSTRAINT service_user_role_is_known CHECK (role IN ('member', 'administrator', 'node')),
  CONSTRAINT service_user_is_of_no_team_as_a_node CHECK ((role = 'node') = (team = '')),
  CONSTRAINT service_user_token_is_of_one_user UNIQUE (token_sha256),
  CONSTRAINT service_user_token_is_kept_as_sha256 CHECK (token_sha256 ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE service_user IS 'Who may call, for good: team and role, and the SHA-256 of the token; a user who was removed has none.';
