#!/usr/bin/env bash
# Computes the statistics of a dataset with one rank on each of many nodes, as a job of Slurm.
#
#   sbatch --nodes=16 examples/cluster/mpi.sh /data/big.f32 saved
#
# Its output is the answer. A job that is preempted or killed goes on from the directory `saved`
# when Slurm starts it again, also with another number of nodes.
#SBATCH --job-name=ooc-run-mpi
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --signal=TERM@60
set -euo pipefail

data=$1
saved=$2
# If a node fails, the others would wait for it: --kill-on-bad-exit ends them, and ranks that hear
# nothing of each other end by themselves.
exec srun --mpi=pmix --kill-on-bad-exit=1 \
  ooc-run-mpi reduce "$data" --resume "$saved" --rank-timeout 60
