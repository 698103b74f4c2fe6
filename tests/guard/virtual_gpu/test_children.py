"""Child processes find the virtual GPUs of their parent, however they are started."""

import functools
import json
import os
import subprocess
import sys

import pytest

CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("RUNTIME_GUARD", "PYTHON", "COV_"))
}

# What a process finds: how many GPUs once it has imported torch, where a tensor lies that is moved
# to the second one, and what mixing it with one that was not moved comes to.
FINDS = """\
import json, multiprocessing, subprocess, sys, warnings

warnings.simplefilter("error")

import torch
from torch import cuda

AT_IMPORT = cuda.device_count()


def finds():
    try:
        moved = torch.ones(2).to("cuda:1")
        moved + torch.ones(2)
    except RuntimeError as error:
        return [AT_IMPORT, str(moved.device), str(error).splitlines()[0]]


def tell(queue):
    queue.put(finds())


def tell_file(rank, path):
    with open(path, "w") as file:
        json.dump(finds(), file)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return finds()
"""

PROGRAM = """\
from rows import *


def started(method):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=tell, args=(queue,))
    child.start()
    found = queue.get(timeout=100)
    child.join()
    return found


def loaded(method):
    loader = torch.utils.data.DataLoader(
        Rows(), num_workers=1, batch_size=None, multiprocessing_context=method
    )
    return next(iter(loader))


def run(*words):
    words = [sys.executable, *words]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def spawned():
    torch.multiprocessing.spawn(tell_file, ("spawned.json",))
    with open("spawned.json") as file:
        return json.load(file)


if __name__ == "__main__":
    WAYS = {
        "fork": lambda: started("fork"),
        "spawn": lambda: started("spawn"),
        "forkserver": lambda: started("forkserver"),
        "loader that forks": lambda: loaded("fork"),
        "loader that spawns": lambda: loaded("spawn"),
        "torch.multiprocessing.spawn": spawned,
        "subprocess": lambda: run("child.py"),
        "torchrun": lambda: run(
            "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", "child.py"
        ),
        # Asked last: what has used a GPU cannot be forked and use it there.
        "here": finds,
    }
    print(json.dumps({way: WAYS[way]() for way in sys.argv[1:]}))
"""

IN_A_BLOCK = """\
import runtime_guard

gpus = runtime_guard.virtual_gpu(2)
if __name__ == "__main__":
    gpus.__enter__()
"""

CHILD = "from rows import *\nprint(json.dumps(finds()))\n"

ERROR = "Expected all tensors to be on the same device, but found at least two devices, "
FOUND = [2, "cuda:1", f"{ERROR}cuda:1 and cpu!"]
STARTS = {
    "command line": (
        *("fork", "spawn", "forkserver", "loader that forks", "loader that spawns"),
        *("torch.multiprocessing.spawn", "subprocess", "torchrun", "here"),
    ),
    "variable": ("spawn", "subprocess", "here"),
    "block": ("fork", "spawn", "forkserver", "loader that spawns", "subprocess", "here"),
}
"""In which ways the children of a run are started; all of them cost too much thrice."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What each process of a run finds, by the way in which it was started; each run once."""
    return functools.cache(lambda start: found_by(start, tmp_path_factory.mktemp("run")))


def found_by(start, folder):
    (folder / "rows.py").write_text(FINDS)
    (folder / "child.py").write_text(CHILD)
    begins = {"command line": "", "variable": "import runtime_guard\n", "block": IN_A_BLOCK}
    (folder / "start.py").write_text(begins[start] + PROGRAM)
    own = ["-m", "runtime_guard", "--virtual-gpu", "2"] if start == "command line" else []
    variables = {"RUNTIME_GUARD_VIRTUAL_GPU": "2"} if start == "variable" else {}
    done = subprocess.run(
        [sys.executable, *own, "start.py", *STARTS[start]],
        cwd=folder,
        env=CLEAN | {"OMP_NUM_THREADS": "1"} | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("start", "way"), [(start, way) for start, ways in STARTS.items() for way in ways]
)
def test_a_child_finds_the_gpus_of_its_parent(start, way, run):
    assert run(start)[way] == FOUND
