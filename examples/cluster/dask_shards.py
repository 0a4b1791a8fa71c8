#!/usr/bin/env python3
"""Computes the statistics of a dataset with a Dask cluster, a task for each shard.

    dask_shards.py /data/big.f32 parts --shards 64 --address tcp://scheduler:8786
"""

from pathlib import Path

import shards
from dask.distributed import Client


def main():
    words = shards.arguments()
    words.parts.mkdir(parents=True, exist_ok=True)
    with Client(words.address) as client:
        client.upload_file(str(Path(__file__).with_name("shards.py")))
        tasks = [client.submit(shards.compute, words.data, str(words.parts.resolve()), i,
                               words.shards, retries=3, pure=False)
                 for i in range(words.shards)]
        shards.merge(client.gather(tasks))


if __name__ == "__main__":
    main()
