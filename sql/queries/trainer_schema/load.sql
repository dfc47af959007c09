SELECT digest, takes_any FROM trainer_schema
