SELECT schema, name, type, default_value, initial FROM hyper_parameter ORDER BY schema, position
