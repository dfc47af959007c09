"""A sweeper for Hydra: `python app.py --multirun hydra/sweeper=espalier lr=0.1,0.2` (docs/hydra.md). Hydra imports it whenever it starts."""
