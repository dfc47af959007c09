SELECT digest, trainer, code_digest, data, data_digest, step_updates, schema FROM training_identity
