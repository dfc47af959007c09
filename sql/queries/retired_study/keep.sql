-- Nothing for those that are not retired.
UPDATE retired_study SET kept_node_ids = given.nodes::bigint[], kept_steps = given.steps::bigint[]
  FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (id, nodes, steps)
 WHERE study_id = given.id
