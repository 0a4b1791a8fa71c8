#!/usr/bin/env python3
"""Tests of examples/cluster: cluster_test.py recipes|dask|ray|slurm OOC-RUN.

recipes: all files can be parsed, and the command of the pods answers. The others run a recipe on a
cluster of this machine, and exit with 77 where that lacks what they need. Slurm takes root's
rights."""

import contextlib
import importlib.util
import json
import os
import py_compile
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RECIPES = Path(__file__).resolve().parents[1] / "examples/cluster"
SKIPPED = 77
SHARDS = 5


def missing(*programs):
    return [name for name in programs if shutil.which(name) is None]


class Cluster:
    """A directory with data, the answer of one run, and an environment that finds the program."""

    def __init__(self, directory, program):
        self.directory = Path(directory)
        self.data = self.directory / "big.f32"
        self.data.write_bytes(np.random.default_rng(1).normal(size=3_000_000).astype("f4"))
        self.parts = self.directory / "parts"
        self.environment = {**os.environ, "PATH": f"{Path(program).parent}:{os.environ['PATH']}"}
        self.program = program
        self.expected = self.answer_of([program, "reduce", self.data, "--json"])

    def answer_of(self, words):
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        return json.loads(text)["result"]

    def check(self):
        """Checks the parts, which must answer as one run."""
        parts = sorted(self.parts.glob("*.part"))
        assert len(parts) == SHARDS, parts
        assert not list(self.parts.glob("*.ckpt")), "a checkpoint was left behind"
        found = self.answer_of([self.program, "merge", *parts, "--json"])
        assert found == self.expected, (found, self.expected)

    def run(self, *words, **more):
        return subprocess.run(words, check=True, text=True, env={**self.environment, **more},
                              cwd=self.directory, capture_output=True, timeout=300).stdout


def test_recipes():
    import yaml
    for script in RECIPES.glob("*.sh"):
        subprocess.run(["bash", "-n", script], check=True)
    for script in RECIPES.glob("*.py"):
        with tempfile.TemporaryDirectory() as directory:
            py_compile.compile(str(script), cfile=f"{directory}/x.pyc", doraise=True)
    shards, merge = yaml.safe_load_all((RECIPES / "kubernetes.yaml").read_text())
    assert shards["kind"] == merge["kind"] == "Job"
    spec = shards["spec"]
    assert spec["completionMode"] == "Indexed"
    command = spec["template"]["spec"]["containers"][0]["args"][0]
    assert spec["completions"] == int(re.search(r"--shards (\d+)", command).group(1))
    for job in shards, merge:
        pod = job["spec"]["template"]["spec"]
        mounted = {each["name"] for each in pod["containers"][0]["volumeMounts"]}
        assert mounted == {each["name"] for each in pod["volumes"]}
        for text in pod["containers"][0]["args"]:
            subprocess.run(["sh", "-n"], input=text, text=True, check=True)


def test_kubernetes_command(cluster):
    """The command of the pods, with the variable that Kubernetes sets."""
    import yaml
    job = next(yaml.safe_load_all((RECIPES / "kubernetes.yaml").read_text()))
    command = job["spec"]["template"]["spec"]["containers"][0]["args"][0]
    command = command.replace("/parts/", f"{cluster.parts}/").replace(
        "/data/big.f32", str(cluster.data)).replace("--shards 16", f"--shards {SHARDS}")
    cluster.parts.mkdir()
    for index in [*range(SHARDS), 0]:  # one is started once more
        cluster.run("sh", "-c", command, JOB_COMPLETION_INDEX=str(index))
    cluster.check()


def test_python(cluster, package, script):
    if importlib.util.find_spec(package) is None:
        return SKIPPED
    text = cluster.run(sys.executable, RECIPES / script, cluster.data, cluster.parts,
                       "--shards", str(SHARDS))
    assert "count" in text and f"{SHARDS} parts" in text, text
    cluster.check()
    return 0


def wait_for_answer(process, family, address):
    """Waits until a process takes connections."""
    for _ in range(300):
        with socket.socket(family) as caller:
            if caller.connect_ex(address) == 0:
                return
        assert process.poll() is None, f"{process.args[0]} has ended"
        time.sleep(0.2)
    raise AssertionError(f"{process.args[0]} takes no connections")


@contextlib.contextmanager
def slurm(directory):
    """Starts a cluster of this machine alone. Yields the path of its configuration."""
    name = socket.gethostname().split(".")[0]
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    for each in "spool", "state":
        (directory / each).mkdir()
    key = directory / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    sock = directory / "munge.sock"
    conf = directory / "slurm.conf"
    conf.write_text(f"""ClusterName=test
SlurmctldHost={name}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={sock}
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={directory}/ctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmdSpoolDir={directory}/spool
StateSaveLocation={directory}/state
SlurmctldLogFile={directory}/ctld.log
SlurmdLogFile={directory}/slurmd.log
NodeName={name} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=500 State=UNKNOWN
PartitionName=all Nodes={name} Default=YES State=UP MaxTime=10 OverSubscribe=FORCE
""")
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    daemons = ((["munged", "--foreground", "--force", "--key-file", key, "--socket", sock,
                  "--pid-file", directory / "munge.pid", "--log-file", directory / "munge.log",
                  "--seed-file", directory / "munge.seed"], socket.AF_UNIX, str(sock)),
               (["slurmctld", "-D", "-f", conf], socket.AF_INET, ("127.0.0.1", ports[0])),
               (["slurmd", "-D", "-f", conf, "-N", name], socket.AF_INET,
                ("127.0.0.1", ports[1])))
    started = []
    try:
        for words, family, address in daemons:
            started.append(subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
            wait_for_answer(started[-1], family, address)
        yield conf
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(20)


def test_slurm(cluster):
    if missing("munged", "slurmctld", "slurmd", "sbatch") or os.geteuid() != 0:
        return SKIPPED
    with slurm(cluster.directory) as conf:
        more = {"SLURM_CONF": str(conf), "SHARDS": str(SHARDS)}
        def finish():
            job = cluster.run(RECIPES / "slurm-array.sh", cluster.data, cluster.parts, **more)
            for _ in range(300):
                left = cluster.run("squeue", "--noheader", "--format=%i %T %r", **more)
                if not left.strip():
                    return job
                time.sleep(0.2)
            raise AssertionError(left)
        finish()
        cluster.check()
        result = cluster.parts / "result.txt"
        assert f"{SHARDS} parts" in result.read_text(), result.read_text()
        # Once more, after a part was lost: only that one is computed.
        times = {path: path.stat().st_mtime_ns for path in cluster.parts.glob("*.part")}
        (cluster.parts / "3.part").unlink()
        finish()
        cluster.check()
        changed = {path.name for path, was in times.items() if path.stat().st_mtime_ns != was}
        assert changed == {"3.part"}, changed
        if Path(cluster.program).with_name("ooc-run-mpi").exists():
            check_mpi(cluster, more)
    return 0


def check_mpi(cluster, more):
    """Two ranks, which Slurm starts by itself: srun and MPI meet through PMIx."""
    log = cluster.directory / "mpi.log"
    cluster.run("sbatch", "--wait", "--ntasks-per-node=2", f"--output={log}", RECIPES / "mpi.sh",
                cluster.data, cluster.directory / "saved", **more,
                OMPI_MCA_mpi_yield_when_idle="1")
    text = log.read_text()
    assert "and 1 more rank" in text and f"{cluster.expected['count']:,}" in text, text
    assert not (cluster.directory / "saved").exists(), "the checkpoint was left behind"


def main():
    which, program = sys.argv[1], str(Path(sys.argv[2]).resolve())
    if which == "recipes":
        test_recipes()
    with tempfile.TemporaryDirectory(prefix="ooc-cluster-", dir=os.getcwd()) as directory:
        cluster = Cluster(directory, program)
        tests = {"recipes": lambda: test_kubernetes_command(cluster),
                 "dask": lambda: test_python(cluster, "distributed", "dask_shards.py"),
                 "ray": lambda: test_python(cluster, "ray", "ray_shards.py"),
                 "slurm": lambda: test_slurm(cluster)}
        sys.exit(tests[which]() or 0)


if __name__ == "__main__":
    main()
