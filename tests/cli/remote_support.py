"""Support for the tests of input from web servers."""

import os
import time

from cli_support import CliTest
from web_server import Server, Thing

import numpy as np

MIB = 1 << 20
VALUES = np.random.default_rng(1).integers(-1000, 1000, 5 * MIB + 3).astype(np.float32)  # 20 MiB
DATA = VALUES.tobytes()


class RemoteCase(CliTest):
    def serve(self, data=DATA, name="/a.f32", certificate=None, **traits):
        """Returns the address of an object on a server that ends with the test, and the object."""
        thing = Thing(data, **traits)
        server = Server({name: thing}, certificate)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.url(name), thing

    def wait_for_state(self):
        """Waits until a run has saved something."""
        end = time.monotonic() + 60
        while not os.path.exists(self.path("r.state")) and time.monotonic() < end:
            time.sleep(0.001)

    def sum_of(self, url, *words, **options):
        document = self.json("reduce", url, *words, **options)
        self.assertEqual(document["result"]["count"], len(VALUES))
        self.assertEqual(document["result"]["sum"], float(VALUES.astype(np.float64).sum()))
        return document
