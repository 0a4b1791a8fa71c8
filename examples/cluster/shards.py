"""A dataset in shards, each the work of one call of ooc-run. dask_shards.py and ray_shards.py run
the calls on the nodes of a cluster; a call that is repeated does no harm, since a part appears
whole or not at all."""

import argparse
import subprocess
from pathlib import Path


def arguments():
    """Returns the arguments of a command that both programs have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", help="the file, at the same path on all nodes")
    parser.add_argument("parts", type=Path, help="a directory that all nodes share")
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--address", help="of the cluster; by default one on this machine")
    return parser.parse_args()


def compute(data, parts, shard, shards):
    """Computes one shard, on the node that calls it, and returns the path of its part."""
    part = Path(parts) / f"{shard}.part"
    if not part.exists():
        words = ["ooc-run", "reduce", data, "--shard", f"{shard}/{shards}", "-o", part,
                 "--resume", f"{part}.ckpt", "--quiet"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"shard {shard}: {done.stderr.strip()}")
    return part


def merge(parts):
    """Prints the answer of all shards."""
    subprocess.run(["ooc-run", "merge", *parts], check=True)
