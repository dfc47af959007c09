SELECT name, data, code_digest, data_digest, evaluation_digest, schema, metrics FROM trainer
