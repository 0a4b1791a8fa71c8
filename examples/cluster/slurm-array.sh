#!/usr/bin/env bash
# Computes the statistics of a dataset on many nodes, with an array of Slurm jobs, one for each
# shard, and merges their parts in a job after them. Needs no MPI.
#
#   SHARDS=64 examples/cluster/slurm-array.sh /data/big.f32 parts
#
# prints the number of the merging job, which writes parts/result.txt. A job that is killed or
# preempted goes on where it was when Slurm starts it again, or when this script is called again.
#SBATCH --job-name=ooc-run
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
#SBATCH --open-mode=append
set -euo pipefail

data=$1
parts=$2
shards=${SHARDS:-16}

# Called by hand: submits itself as an array, and a job that merges.
if [[ -z ${SLURM_ARRAY_TASK_ID:-} ]]; then
  mkdir -p "$parts"
  array=$(SHARDS=$shards sbatch --parsable --export=ALL --array="0-$((shards - 1))" \
    --output="$parts/%a.log" "$0" "$data" "$parts")
  sbatch --parsable --export=ALL --dependency="afterok:$array" --output="$parts/merge.log" \
    --wrap="ooc-run merge '$parts'/*.part >'$parts/result.txt'"
  exit
fi

part=$parts/$SLURM_ARRAY_TASK_ID.part
[[ ! -e $part ]] || exit 0 # an earlier run has done it
# --shards: a part of an array, started once more, would look like a smaller one. exec: Slurm's
# signal is for ooc-run, which then saves what it has found.
exec ooc-run reduce "$data" --shard auto --shards "$shards" -o "$part" --resume "$part.ckpt" --quiet
