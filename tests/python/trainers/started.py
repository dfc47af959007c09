"""Programs that can only be started, as trainers."""

import sys

import espalier as es

HYPER_PARAMETERS = {"lr": es.sequence(float, default=0.1)}

Old = es.script([sys.executable, "old_program.py"], hyper_parameters=HYPER_PARAMETERS, metrics=["slope_error"])
Strict = es.script(f"{sys.executable} old_program.py", hyper_parameters=HYPER_PARAMETERS, writes_safetensors=True, data="1")
Nowhere = es.script("./no_such_program", hyper_parameters=HYPER_PARAMETERS)
