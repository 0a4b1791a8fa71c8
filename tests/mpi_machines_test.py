#!/usr/bin/env python3
"""Tests ooc-run-mpi with ranks in network namespaces, between which links fail:
mpi_machines_test.py OOC-RUN OOC-RUN-MPI SLOW-READS. Takes root's rights, and exits with 77 without
them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from mpi_support import JOBS, MpiTest, mpirun, ranks_of, run_tests

SKIPPED = 77


class Machines:
    """Network namespaces, each with a name of its own, on one bridge."""

    made = 0

    def __init__(self, count):
        Machines.made += 1
        self.name = f"ooc{os.getpid()}{'abcdefgh'[Machines.made]}"
        self.hosts = [f"10.77.{os.getpid() % 200}.{i + 1}" for i in range(count)]

    def run(self, *words):
        subprocess.run(words, check=True, capture_output=True)

    def space(self, host):
        return f"{self.name}-{self.hosts.index(host)}"

    def __enter__(self):
        self.run("ip", "link", "add", self.name, "type", "bridge")
        self.run("ip", "link", "set", self.name, "up")
        for index, host in enumerate(self.hosts):
            space, end = self.space(host), f"{self.name}v{index}"
            self.run("ip", "netns", "add", space)
            self.run("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns",
                     space)
            self.run("ip", "link", "set", end, "master", self.name, "up")
            for words in (["addr", "add", f"{host}/24", "dev", "eth0"],
                          ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"]):
                self.run("ip", "-n", space, *words)
        return self

    def halt(self):
        """Ends all their processes: daemons of MPI may stay."""
        for host in self.hosts:
            pids = subprocess.run(["ip", "netns", "pids", self.space(host)], capture_output=True,
                                  text=True).stdout
            for pid in pids.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def __exit__(self, *_):
        self.halt()
        for host in self.hosts:
            end = f"{self.name}v{self.hosts.index(host)}"
            subprocess.run(["ip", "link", "del", end], capture_output=True)
            subprocess.run(["ip", "netns", "del", self.space(host)], capture_output=True)
        subprocess.run(["ip", "link", "del", self.name], capture_output=True)

    def cut(self, host):
        self.run("ip", "link", "set", f"{self.name}v{self.hosts.index(host)}", "down")

    def agent(self, path):
        """Writes a program that runs a command on one of the machines, as ssh does."""
        path.write_text("#!/bin/bash\nhost=$1; shift\nn=${host##*.}\n"
                        f"exec ip netns exec {self.name}-$((n - 1)) unshare --uts bash -c "
                        '"hostname machine$n; $*"\n')
        path.chmod(0o755)
        return path

    def options(self, agent):
        network = self.hosts[0].rsplit(".", 1)[0] + ".0/24"
        return {"OMPI_MCA_plm_rsh_agent": str(agent), "OMPI_MCA_btl": "tcp,self",
                "OMPI_MCA_btl_tcp_if_include": network, "OMPI_MCA_oob_tcp_if_include": network,
                "OMPI_MCA_plm": "rsh", "OMPI_MCA_orte_keep_fqdn_hostnames": "1",
                "OMPI_MCA_orte_default_hostfile": str(agent.parent / "hosts"),
                "OMPI_MCA_pml": "ob1"}


class AcrossMachines(MpiTest):
    def setUp(self):
        self.machines = self.enterContext(Machines(3))
        agent = self.machines.agent(self.directory / "agent")
        (self.directory / "hosts").write_text(
            "".join(f"{host} slots=2\n" for host in self.machines.hosts))
        self.more = self.machines.options(agent)
        self.before = ["ip", "netns", "exec", self.machines.space(self.machines.hosts[0])]

    if not hasattr(unittest.TestCase, "enterContext"):
        def enterContext(self, context):
            entered = context.__enter__()
            self.addCleanup(context.__exit__, None, None, None)
            return entered

    def test_answers_are_those_of_one_process(self):
        for words in JOBS[:3]:
            run = mpirun(*words, "--json", "--chunk", "1M", ranks=6, before=self.before,
                         **self.more)
            self.assertEqual(run.returncode, 0, run.stderr)
            document = json.loads(run.stdout)
            self.assertEqual(document["result"], self.answer(*words))
            hosts = {each["host"] for each in document["run"]["ranks"]}
            self.assertEqual(len(hosts), 3, hosts)

    def test_a_machine_that_vanishes_ends_all_ranks(self):
        process = self.start("reduce", "--exact", "--rank-timeout", "3", ranks=3,
                             before=self.before, **self.more)
        self.machines.cut(self.machines.hosts[2])
        for _ in range(3000):
            if not ranks_of(self.directory):
                break
            time.sleep(0.01)
        self.assertEqual(ranks_of(self.directory), [])
        self.machines.halt()  # mpirun may stay
        process.communicate(timeout=60)


def main():
    if os.geteuid() != 0 or any(shutil.which(each) is None for each in ("ip", "unshare")):
        return SKIPPED
    return run_tests(AcrossMachines)


if __name__ == "__main__":
    sys.exit(main())
