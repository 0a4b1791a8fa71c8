#!/usr/bin/env python3
"""Computes the statistics of a dataset with a Ray cluster, a task for each shard.

    ray_shards.py /data/big.f32 parts --shards 64 --address auto
"""

from pathlib import Path

import ray

import shards


def main():
    words = shards.arguments()
    words.parts.mkdir(parents=True, exist_ok=True)
    # Ray's workers import shards.py from a copy of this directory.
    ray.init(words.address, runtime_env={"working_dir": str(Path(__file__).parent)})
    compute = ray.remote(max_retries=3, retry_exceptions=True)(shards.compute)
    tasks = [compute.remote(words.data, str(words.parts.resolve()), i, words.shards)
             for i in range(words.shards)]
    shards.merge(ray.get(tasks))


if __name__ == "__main__":
    main()
