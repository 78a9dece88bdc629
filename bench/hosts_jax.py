"""psum over the devices of several processes from JAX: started once for each process by hosts.py.

    hosts_jax.py ADDRESS PROCESSES PROCESS BYTES COUNT [BYTES COUNT ...]

The first process prints a line of JSON for each size: the times of calls, in ns."""
import json
import sys
import time

import jax
import numpy as np

address, n, me = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
jax.distributed.initialize(address, num_processes=n, process_id=me)
mesh = jax.make_mesh((jax.device_count(),), ("i",))
spec = jax.sharding.PartitionSpec("i")
f = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "i"), mesh=mesh, in_specs=spec,
                          out_specs=jax.sharding.PartitionSpec()))
for size, count in zip(sys.argv[4::2], sys.argv[5::2]):
    elements = int(size) // 4
    whole = (jax.device_count() * elements,)
    x = jax.make_array_from_callback(whole, jax.sharding.NamedSharding(mesh, spec),
                                     lambda index: np.ones(elements, np.float32))
    times = []
    for i in range(-3, int(count)):
        start = time.perf_counter_ns()
        f(x).block_until_ready()
        if i >= 0:
            times.append(time.perf_counter_ns() - start)
    if me == 0:
        print(json.dumps({"bytes": int(size), "ns": times}), flush=True)
