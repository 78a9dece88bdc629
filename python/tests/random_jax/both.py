"""One random program on both backends."""
import traceback

import jax
import numpy as np

from compare import differences
from grow import Program
import sharded


KINDS = {"single": Program, "sharded": sharded.program_of}


def steps(kind, seed):
    """Plays a program; says what is being done, then the outcome."""
    yield {"doing": "growing"}
    try:
        program = KINDS[kind](seed)
    except Exception:  # noqa: BLE001: a mistake in the generator is one more failure to tell
        yield {"outcome": "not grown", "said": [traceback.format_exc()[-1500:]]}
        return
    results = []
    with jax.enable_x64(program.x64):
        for backend in ("tutti", "cpu"):
            yield {"doing": f"playing on {backend}"}
            try:
                results.append([np.asarray(x) for x in program.played(backend)])
            except Exception as error:  # noqa: BLE001: whatever JAX or an engine refuses
                results.append(error)
    yield {"doing": "comparing"}
    yield outcome(program, *results)


def outcome(program, ours, theirs):
    if isinstance(theirs, Exception):
        both = "both" if isinstance(ours, Exception) else "XLA alone"
        return {"outcome": "refused", "said": [f"{both}: {str(theirs)[:300]}"]}
    if isinstance(ours, Exception) and program.is_refused_by_jax():
        return {"outcome": "refused", "said": [f"JAX: {str(ours)[:300]}"]}
    if isinstance(ours, Exception):
        return {"outcome": "error", "said": [f"{type(ours).__name__}: {str(ours)[:600]}"]}
    try:
        said = differences(program, ours, theirs)
    except Exception:  # noqa: BLE001: JAX may refuse the program in double precision
        return {"outcome": "not compared", "said": [traceback.format_exc()[-1500:]]}
    return {"outcome": "different" if said else "same", "said": said}
