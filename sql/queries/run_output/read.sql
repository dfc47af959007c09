-- Of the lineage ($1, $2: plan nodes, and the last step of each) what runs for the team $3 printed, behind the number $4.
WITH lineage AS (
  SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS given (plan_node_id, to_step)
), shown AS (
  SELECT run_id, from_step, least(run_stage.to_step, lineage.to_step) AS to_step, position = 0 AS is_first
    FROM lineage JOIN run_stage USING (plan_node_id)
   WHERE from_step < lineage.to_step
  UNION ALL
  SELECT run.id, -1, -1, true
    FROM lineage JOIN run ON start_plan_node_id = plan_node_id AND start_step <= to_step
   WHERE NOT EXISTS (SELECT FROM run_stage WHERE run_id = run.id)
), found AS (
  SELECT number, run_id, run.server, run.slot, run_output.position, step, body,
         sum(size_bytes) OVER (ORDER BY number) - size_bytes AS before_bytes
    FROM run_output JOIN run ON run.id = run_id
   WHERE number > $4
     AND run_id IN (SELECT run_id FROM shown)
     AND EXISTS (SELECT FROM shown
                  WHERE shown.run_id = run_output.run_id
                    AND (step > from_step AND step <= to_step OR step = 0 AND is_first))
     AND EXISTS (SELECT FROM run_study JOIN study ON study.id = study_id
                  WHERE run_study.run_id = run_output.run_id AND team = $3)
)
SELECT number, run_id, server, slot, position, step, body
  FROM found
 WHERE before_bytes < $5
 ORDER BY number
