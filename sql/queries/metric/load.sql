SELECT plan_node_id, step, identity AS evaluation, names, measured
  FROM metric JOIN evaluation ON evaluation.id = metric.evaluation_id
