"""Runs that are part of a proof: they read another text, end in time, and tell what came of them.

A run is a process of its own. Those that need no torch take a tenth of a second.
"""

import hashlib
import os
import sys
import time
from pathlib import Path

import pytest

from runtime_guard.mutation.failures import printed
from runtime_guard.mutation.plan import Failure
from runtime_guard.mutation.running import Job, Replacement, ScriptMachine, run

TRAIN = """\
import sys
import torch
from torch import nn

device = torch.device(sys.argv[1])
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = model(torch.rand(8, 4).to(device)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", step, flush=True)
print("end")
"""

SPAWN = """\
import multiprocessing as mp
import torch

def work():
    weight = torch.ones(2, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([weight])
    for device in ("cuda", "cpu"):
        (weight * torch.ones(2).to(device)).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    child = mp.get_context("spawn").Process(target=work)
    child.start()
    child.join()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_it(script, *arguments, text=None, gpus=0, steps=None, timeout=100, others=()):
    data = Path(script).read_bytes() if text is None else text.encode()
    return run(
        Job(script, arguments, steps, timeout), [Replacement(data), *others], ScriptMachine(gpus)
    )


def test_another_text_runs_in_the_place_of_the_script(folder):
    Path("sub").mkdir()
    Path("sub/train.py").write_text("raise SystemExit('the file itself ran')\n")
    Path("sub/beside.py").write_text("import train\nassert train.__name__ == 'train'\n")
    text = f"""
import os, sys, inspect
assert __file__ == {str(folder / "sub/train.py")!r}, __file__
assert os.getcwd() == {str(folder)!r}
if __name__ == "__main__":
    assert sys.path[0] == {str(folder / "sub")!r}
    assert sys.argv == ["sub/train.py", "--lr", "1"]
    import beside
def shown(): pass
assert inspect.getsource(shown) == "def shown(): pass\\n"
"""
    result = run_it("sub/train.py", "--lr", "1", text=text)
    assert (result.failure, result.ending, result.status) == (None, "passed", 0)
    assert sorted(path.name for path in folder.rglob("*.py")) == ["beside.py", "train.py"]
    assert [path for path in folder.rglob("*.pyc") if "train" in path.name] == []


def test_other_texts_run_in_the_place_of_what_the_script_imports(folder):
    Path("models").mkdir()
    for name in ("train.py", "models/__init__.py", "models/nets.py", "beside.py"):
        Path(name).write_text("raise SystemExit('the file itself ran')\n")
    Path("beside.py").write_text("WHICH = 'the file itself'\n")
    Path("link.py").symlink_to("models/nets.py")
    result = run_it(
        "train.py",
        text="""
import beside, inspect
from models import nets
assert beside.WHICH == "the file itself"
assert nets.WHICH == __import__("link").WHICH == "another text"
assert inspect.getsource(nets.shown) == "def shown(): pass\\n"
""",
        others=[
            Replacement(b"", file="models/__init__.py"),
            Replacement(
                b"WHICH = 'another text'\ndef shown(): 1\n",
                b"WHICH = 'another text'\ndef shown(): pass\n",
                "models/nets.py",
            ),
        ],
    )
    assert (result.failure, result.ending) == (None, "passed")
    assert list(folder.rglob("nets*.pyc")) == []


def test_a_run_tells_its_steps_and_where_the_parameters_were():
    Path("train.py").write_text(TRAIN)
    whole = run_it("train.py", "cpu")
    assert (whole.ending, whole.steps, whole.devices, whole.gpus) == ("passed", 5, ("cpu",), 0)
    on_gpu = run_it("train.py", "cuda", gpus=1)
    assert (on_gpu.ending, on_gpu.steps, on_gpu.devices, on_gpu.gpus) == (
        "passed",
        5,
        ("cuda:0",),
        1,
    )
    # The same seeds, and the same kernels.
    assert whole.digest == on_gpu.digest != ""
    assert whole.output == on_gpu.output
    assert whole.losses == on_gpu.losses
    assert [loss.step for loss in whole.losses[0]] == [1, 2, 3, 4, 5]


LOSSES = """\
import torch
import numpy as np
from torch import nn

weight = nn.Parameter(torch.tensor([2.0, 3.0]))
critic = nn.Parameter(torch.tensor([1.0]))
first, second = torch.optim.SGD([weight], lr=1.0), torch.optim.SGD([critic], lr=1.0)
for step in range(3):
    if step == 0:
        (weight.sum() / 2).backward()
        torch.autograd.backward([weight.sum(), critic.sum() * 0])
    elif step == 1:
        weight.grad = torch.ones(2)
    else:
        (weight * 1).backward(torch.ones(2))
    first.step()
    if step == 1:
        continue
    second.zero_grad()
    critic.square().backward()
    second.step()
"""


def test_losses_belong_to_the_step_of_the_optimizer_that_follows():
    Path("train.py").write_text(LOSSES)
    (losses,) = run_it("train.py", steps=3).losses
    assert [(loss.step, loss.shown) for loss in losses] == [
        (1, "2.5"),
        (1, "5.0, 0.0"),
        (1, "1.0"),
        (2, "other gradients"),
        (3, "0.0 in 2"),
        (2, "1.0"),
    ]


BY_HAND = """\
import torch

torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
weight = torch.ones(2, device=device, requires_grad=True)
for step in range(9):
    loss = (weight * torch.rand(2).to(device)).sum()
    loss.backward()
    with torch.no_grad():
        weight -= 0.1 * weight.grad
        weight.grad = None
    print(step, flush=True)
"""


def test_without_an_optimizer_each_backward_pass_is_a_step():
    Path("train.py").write_text(BY_HAND)
    here, there = (run_it("train.py", gpus=gpus, steps=2) for gpus in (0, 1))
    assert [(each.ending, each.steps, each.by_hand) for each in (here, there)] == [
        ("passed", 2, True),
        ("passed", 2, True),
    ]
    assert (here.devices, there.devices) == (("cpu",), ("cuda:0",))
    assert here.losses == there.losses
    assert [loss.step for loss in here.losses[0]] == [1, 2]
    assert here.output == there.output == hashlib.sha256(b"0\n1\n").hexdigest()


def test_what_a_script_draws_is_the_same_in_each_run():
    Path("train.py").write_text(
        "import random, numpy as np, torch\n"
        "print(random.random(), np.random.rand(), np.random.default_rng().random())\n"
        "print(torch.rand(1), np.random.default_rng(7).random())\n"
    )
    assert run_it("train.py").output == run_it("train.py").output


def test_a_run_ends_after_so_many_steps_and_what_follows_the_last():
    Path("train.py").write_text(
        "import atexit, pathlib\n"
        "atexit.register(lambda: pathlib.Path('left').write_text('properly'))\n"
        + TRAIN.replace('print("step"', 'open(f"{step}", "w"); print("step"')
    )
    result = run_it("train.py", "cpu", steps=2)
    assert (result.ending, result.status, result.steps) == ("passed", 0, 2)
    assert Path("left").read_text() == "properly"
    assert sorted(path.name for path in Path().iterdir()) == ["0", "1", "left", "train.py"]


def test_a_failure_names_the_line_and_torchs_text():
    Path("train.py").write_text(TRAIN)
    text = TRAIN.replace("torch.rand(8, 4).to(device)", "torch.rand(8, 4)")
    result = run_it("train.py", "cuda", text=text, gpus=1)
    message = (
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from "
        "other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
    )
    file = str(Path("train.py").resolve())
    assert result.failure == Failure("RuntimeError", message, file, 9, about_devices=True)
    assert (result.ending, result.status, result.steps) == ("failed", 1, 0)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("def f():\n    return {}['x']\nf()\n", ("KeyError", "x", 2)),
        ("import json\njson.loads('}')\n", ("JSONDecodeError", "Expecting value: line 1 …", 2)),
        ("import sys\nprint('no\\ndata', file=sys.stderr)\nsys.exit(3)\n", ("", "data", 0)),
        ("import sys\nsys.exit('no data')\n", ("", "no data", 0)),
        ("import os\nos._exit(9)\n", ("", "it ended with status 9", 0)),
        ("raise ValueError\n", ("ValueError", "", 1)),
        ("open('a.csv')", ("FileNotFoundError", "[Errno 2] No such file or directory: 'a.csv'", 1)),
        ("x = (\n", ("SyntaxError", "'(' was never closed", 1)),
    ],
)
def test_other_failures(text, failure):
    Path("train.py").touch()
    found = run_it("train.py", text=text).failure
    kind, message, line = failure
    assert found is not None
    assert (found.type, found.line, found.about_devices) == (kind, line, False)
    assert found.message.startswith(message.removesuffix("…"))


def test_a_run_that_takes_too_long_is_ended_with_its_children():
    Path("train.py").write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])\n"
        "open('child', 'w').write(str(child.pid))\n"
        "time.sleep(100)\n"
    )
    result = run_it("train.py", timeout=3)
    assert (result.ending, result.status, result.failure) == ("timed out", None, None)
    child = int(Path("child").read_text())
    assert is_over(child)


def is_over(process):
    """Whether a process that was killed is gone, or only waits for somebody to ask for its end."""
    for _ in range(100):
        status = Path(f"/proc/{process}/stat")
        try:
            os.kill(process, 0)
            if status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def test_a_run_that_is_killed_tells_how_far_it_came():
    killed = "    if step: __import__('os').kill(__import__('os').getpid(), 9)\n    print"
    Path("train.py").write_text(TRAIN.replace("    print", killed))
    result = run_it("train.py", "cpu", steps=4)
    assert (result.ending, result.steps, result.devices) == ("failed", 2, ("cpu",))
    assert [loss.step for loss in result.losses[0]] == [1, 2]


def test_a_child_that_is_spawned_runs_the_text_as_well():
    Path("train.py").write_text("raise SystemExit('the file itself ran')\n")
    result = run_it("train.py", text=SPAWN, gpus=1)
    # The script does not ask how its child ended.
    assert (result.status, result.steps, result.devices) == (0, 1, ("cuda:0",))
    assert result.ending == "failed"
    assert result.failure is not None
    assert (result.failure.line, result.failure.about_devices) == (8, True)


def test_the_variables_of_the_guard_are_not_handed_on(monkeypatch):
    monkeypatch.setenv("RUNTIME_GUARD", "nonsense")
    monkeypatch.setenv("RUNTIME_GUARD_VIRTUAL_GPU", "7")
    Path("train.py").write_text("import os\nassert os.environ['MPLBACKEND'] == 'Agg'\n")
    assert run_it("train.py").failure is None


def test_a_script_whose_name_begins_with_a_dash():
    Path("-m.py").write_text("raise SystemExit(0)\n")
    assert run_it("-m.py").ending == "passed"


def test_what_children_print_of_their_end_is_read():
    lines = [
        "Process Process-1:",
        "Traceback (most recent call last):",
        f'  File "{sys.modules["subprocess"].__file__}", line 1, in run',
        '  File "/home/me/train.py", line 12, in work',
        '  File "/usr/lib/python3/dist-packages/torch/nn/functional.py", line 3, in linear',
        "torch.AcceleratorError: CUDA error: invalid device ordinal",
    ]
    failure = Failure(
        "AcceleratorError", "CUDA error: invalid device ordinal", "/home/me/train.py", 12, True
    )
    assert printed(lines) == failure
    assert printed(["RuntimeError: CUDA error: out of luck", "the same device"]) is None
