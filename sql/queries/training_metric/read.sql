-- Of the lineage ($1, $2: plan nodes, and the last step of each) what was stored behind the number $3: as many batches as
-- have $4 steps together, one at least.
WITH lineage AS (
  SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS given (plan_node_id, to_step)
), found AS (
  SELECT number, name, steps, body, to_step,
         sum(cardinality(steps)) OVER (ORDER BY number) - cardinality(steps) AS before_steps
    FROM lineage JOIN training_metric USING (plan_node_id)
   WHERE first_step <= to_step
     AND number > $3
), shown AS (
  SELECT number, name, to_step, unnest(steps) AS step, unnest(body) AS metric
    FROM found
   WHERE before_steps < $4
)
SELECT number, name, step, metric
  FROM shown
 WHERE step <= to_step
 ORDER BY number, step
