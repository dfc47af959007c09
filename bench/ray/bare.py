"""All trials in two bare processes. Prints their accuracies."""

import json
import multiprocessing

import digits

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(json.dumps(pool.map(digits.run_trial, digits.grid(), chunksize=1)))
