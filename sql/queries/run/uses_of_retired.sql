-- Of states that stand: how many runs have started from each that have left memory.
SELECT plan_node_id, step, count(*) AS runs, (date_part('epoch', max(ordered_at)) * 1000000)::bigint AS last
  FROM checkpoint JOIN run ON start_plan_node_id = plan_node_id AND start_step = step
 WHERE retired
 GROUP BY plan_node_id, step
