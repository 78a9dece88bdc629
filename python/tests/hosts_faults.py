"""What test_hosts.py runs in each of two processes, of which the second is lost:

    hosts_faults.py ADDRESS PROCESS FAULT

FAULT: kill, in the middle of a transfer to the first; raise, exit: while the first waits for a transfer, or a
sum.  The first says what it was told.
"""
import os
import signal
import sys
import threading
import time

import jax
import numpy as np

me, fault = int(sys.argv[2]), sys.argv[3]
jax.distributed.initialize(sys.argv[1], 2, me)

from jax.experimental import multihost_utils  # noqa: E402

to, start = (jax.local_devices(process_index=p)[0] for p in (0, 1))
values = np.ones(1 << 24, np.float32)
multihost_utils.sync_global_devices("ready")
if me == 1 and fault == "kill":
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()
if me == 1 and fault == "raise":
    raise ValueError("enough")
if me == 1 and fault == "exit":
    sys.exit(3)
begin = time.monotonic()
try:
    if fault == "raise":
        multihost_utils.process_allgather(np.arange(4))
    while time.monotonic() < begin + 60:
        begin = time.monotonic() if me == 0 else begin
        gone = jax.device_put(jax.device_put(values, start), to)
        for shard in gone.addressable_shards:
            assert (np.asarray(shard.data) == 1).all()
        if me == 1:
            gone.block_until_ready()
except jax.errors.JaxRuntimeError as e:
    print(f"after {time.monotonic() - begin:.1f} s: {e}", flush=True)
if fault == "kill":
    os._exit(0)  # JAX would end this process too, by SIGABRT, when its own watch finds out
