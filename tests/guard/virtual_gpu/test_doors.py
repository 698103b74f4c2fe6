"""The ways into a virtual GPU: the command line, the environment, and what leaves a block."""

import json
import os
import subprocess
import sys
import textwrap
import traceback

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard.command_line import UsageError
from runtime_guard.launcher.activation import FINDINGS
from runtime_guard.launcher.cli import main, parse
from runtime_guard.launcher.script import Module, Script
from runtime_guard.settings import (
    ACCELERATORS,
    MACHINE_VARIABLES,
    Environment,
    Settings,
    VirtualMachine,
    from_environment,
    machine_from_environment,
    to_environment,
)
from runtime_guard.virtual.devices.machine import NAMES
from runtime_guard.virtual.dispatch import mode
from tests.guard.notes import note_of

CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("RUNTIME_GUARD", "PYTHON", "COV_"))
}
ADDMM = (
    "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other "
    "tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (FINDINGS, *MACHINE_VARIABLES):
        monkeypatch.delenv(name, raising=False)


ONE = VirtualMachine()
TWO = VirtualMachine(2)


@pytest.mark.parametrize(
    ("line", "machine", "program"),
    [
        ("train.py", None, Script("train.py")),
        ("--virtual-gpu train.py", ONE, Script("train.py")),
        ("--virtual-gpu 2 train.py 3", TWO, Script("train.py", ("3",))),
        ("--virtual-gpu=2 train.py", TWO, Script("train.py")),
        ("--virtual-gpu 02 train.py", TWO, Script("train.py")),
        ("--virtual-gpu two", ONE, Script("two")),
        ("--virtual-gpu 2to3.py", ONE, Script("2to3.py")),
        ("--virtual-gpu -- 2", ONE, Script("2")),
        ("--virtual-gpu -m train 2", ONE, Module("train", ("2",))),
        ("--virtual-gpu 2 -mtrain", TWO, Module("train")),
        ("--virtual-gpu --steps 2 train.py", ONE, Script("train.py")),
        ("--steps 2 --virtual-gpu 2 train.py", TWO, Script("train.py")),
        ("--virtual-gpu 0 train.py", None, Script("train.py")),
        ("train.py --virtual-gpu 2", None, Script("train.py", ("--virtual-gpu", "2"))),
        (
            "--virtual-gpu-name xpu --virtual-gpu 2 --virtual-gpu-memory 0.5 train.py",
            VirtualMachine(2, "xpu", 0.5),
            Script("train.py"),
        ),
        (
            "--virtual-gpu --virtual-gpu-name=MPS train.py",
            VirtualMachine(1, "mps"),
            Script("train.py"),
        ),
    ],
)
def test_the_number_of_devices_is_a_number_and_may_be_left_out(line, machine, program):
    command = parse(line.split())
    assert (command.environment.machine, command.program) == (machine, program)


@pytest.mark.parametrize(
    ("line", "mode"),
    [
        ("", "check"),
        ("--action off", "off"),
        ("--virtual-gpu", "explain"),
        ("--virtual-gpu 0", "check"),
        ("--virtual-gpu --action raise", "check"),
        ("--virtual-gpu --action warn", "warn"),
        ("--virtual-gpu --action off", "off"),
    ],
)
def test_torchs_own_error_comes_first_on_a_virtual_gpu_unless_a_check_is_asked_for(line, mode):
    assert parse([*line.split(), "train.py"]).environment.mode == mode


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--virtual-gpu -1 x.py", "--virtual-gpu is '-1': expected a number of devices, or 0 for"),
        ("--virtual-gpu 1.5 x.py", "--virtual-gpu is '1.5': expected a number of devices, or 0"),
        ("--virtual-gpu=two x.py", "--virtual-gpu is 'two': expected a number of devices, or 0"),
        ("--virtual-gpu= x.py", "--virtual-gpu is empty"),
        ("--virtual-gpus 2 x.py", 'no option "--virtual-gpus"; did you mean "--virtual-gpu"?'),
        ("--virtual-gpu-nam x", "did you mean"),
        ("--virtual-gpu-name", "argument --virtual-gpu-name: expected one argument"),
        ("--virtual-gpu-name mps x.py", "--virtual-gpu-name says nothing without --virtual-gpu"),
        (
            "--virtual-gpu --virtual-gpu-name hip x.py",
            "--virtual-gpu-name is 'hip': expected one of cuda, mps, xpu",
        ),
        (
            "--virtual-gpu 2 --virtual-gpu-name mps x.py",
            "--virtual-gpu is '2': a machine has one mps device",
        ),
        (
            "--virtual-gpu --virtual-gpu-memory 0 x.py",
            "--virtual-gpu-memory is '0': expected a number of gigabytes, above 0",
        ),
        (
            "--virtual-gpu --virtual-gpu-memory nan x.py",
            "--virtual-gpu-memory is 'nan': expected a number of gigabytes, above 0",
        ),
        ("--virtual-gpu 3", "there is no script to run; --help shows how to name one"),
    ],
)
def test_a_line_that_makes_no_sense_is_answered_in_one_line(line, message, capsys):
    with pytest.raises(UsageError):
        parse(line.split())
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_what_the_options_leave_open_the_environment_says(monkeypatch):
    monkeypatch.setenv("RUNTIME_GUARD_VIRTUAL_GPU", "2")
    monkeypatch.setenv("RUNTIME_GUARD_VIRTUAL_GPU_MEMORY_GB", "4")
    lines = {
        "": VirtualMachine(2, "cuda", 4),
        "--virtual-gpu-name xpu": VirtualMachine(2, "xpu", 4),
        "--virtual-gpu": VirtualMachine(1, "cuda", 4),
        "--virtual-gpu 0": None,
    }
    found = {line: parse([*line.split(), "x.py"]).environment.machine for line in lines}
    assert found == lines
    monkeypatch.setenv("RUNTIME_GUARD_VIRTUAL_GPU", "two")
    with pytest.raises(UsageError, match="RUNTIME_GUARD_VIRTUAL_GPU is 'two': expected a number"):
        parse(["x.py"])


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        ({}, None),
        ({"": "0"}, None),
        ({"_NAME": "mps"}, None),
        ({"": " 2 "}, VirtualMachine(2)),
        ({"": "1", "_NAME": "MPS"}, VirtualMachine(1, "mps")),
        ({"": "1", "_MEMORY_GB": "0.25"}, VirtualMachine(1, "cuda", 0.25)),
    ],
)
def test_variables_name_the_machine(variables, asked):
    environ = {f"RUNTIME_GUARD_VIRTUAL_GPU{name}": value for name, value in variables.items()}
    assert machine_from_environment(environ) == asked
    assert from_environment(environ) == (asked and Environment("explain", machine=asked))
    environ["RUNTIME_GUARD"] = "warn"
    assert from_environment(environ) == Environment("warn", Settings("warn"), machine=asked)


def test_children_read_what_the_parent_wrote():
    for machine in (VirtualMachine(3), VirtualMachine(1, "mps", 0.1)):
        asked = Environment("off", machine=machine)
        assert from_environment(to_environment(asked)) == asked


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "count is 0: expected a whole number, 1 or more"),
        ((True,), "count is True: expected a whole number, 1 or more"),
        ((1, "hip"), "name is 'hip': expected one of 'cuda', 'mps', 'xpu'"),
        ((2, "mps"), "count is 2: a machine has one mps device"),
        ((1, "cuda", -1), "memory_gb is -1: expected a number above 0"),
        ((1, "cuda", "4"), "memory_gb is '4': expected a number above 0"),
    ],
)
def test_a_machine_that_cannot_be_is_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        VirtualMachine(*arguments)


def test_the_doors_know_the_accelerators_that_there_are():
    assert ACCELERATORS == NAMES


# A torch of a few lines, and a GPU that says what happens to it.
SAYING = """\
import os, sys
import runtime_guard
from runtime_guard.launcher.activation import activate, activate_from_environment, deactivate
from runtime_guard.settings import Environment, VirtualMachine

class Saying:
    def __init__(self, *what):
        self.what = what
        if what[0] == "guard":
            print("begin", *what, sys.modules["torch"].ready)
    def __enter__(self):
        print("begin", *self.what, sys.modules["torch"].ready)
    def remove(self, *_):
        print("end", *self.what)
    __exit__ = remove

runtime_guard.virtual_gpu = lambda count, name, memory_gb, **_: Saying(
    "gpu", count, name, memory_gb
)
runtime_guard.explain = lambda: Saying("guard", "explain")
runtime_guard.install = lambda **options: Saying("guard", options["action"])
"""


@pytest.fixture
def run(tmp_path):
    """Runs a program beside a torch of a few lines: what it printed, line by line."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("from torch import nn\nready = 'ready'\n")
    (tmp_path / "torch/nn.py").touch()
    (tmp_path / "needs_torch.py").write_text("from torch.nn import ready\n")
    (tmp_path / "torch/nn.py").write_text("ready = 'nn'\n")

    def run_it(program: str, **variables: str) -> list[str]:
        (tmp_path / "program.py").write_text(SAYING + program)
        words = [sys.executable, "program.py"]
        env = CLEAN | variables
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.splitlines()

    return run_it


@pytest.mark.parametrize(
    "imports",
    ["import torch", "from torch import nn", "import torch.nn as nn", "import needs_torch"],
)
def test_it_begins_before_the_line_after_the_import_of_torch(imports, run):
    program = (
        "activate(Environment('explain', machine=VirtualMachine(2, 'xpu', 4)))\n"
        f"print('before')\n{imports}\nprint('after')\ndeactivate()"
    )
    assert run(program) == [
        "before",
        "begin gpu 2 xpu 4 ready",
        "begin guard explain ready",
        "after",
        "end guard explain",
        "end gpu 2 xpu 4",
    ]


@pytest.mark.parametrize(
    ("guard", "begun"),
    [
        ({}, ["begin guard explain ready"]),
        ({"RUNTIME_GUARD": "warn"}, ["begin guard warn ready"]),
        ({"RUNTIME_GUARD": "off"}, []),
    ],
)
def test_the_variable_is_honoured_whatever_is_to_be_guarded(guard, begun, run):
    program = "import torch\nprint(os.environ['RUNTIME_GUARD_VIRTUAL_GPU'])"
    found = run(program, RUNTIME_GUARD_VIRTUAL_GPU="1", **guard)
    assert found == ["begin gpu 1 cuda None ready", *begun, "1"]


def test_zero_is_no_machine_and_the_end_gives_the_variables_back(run):
    assert run("import torch", RUNTIME_GUARD_VIRTUAL_GPU="0") == []
    program = (
        "before = dict(os.environ)\n"
        "activate(Environment('off', machine=VirtualMachine(2)))\n"
        "print(os.environ['RUNTIME_GUARD_VIRTUAL_GPU'], os.environ['RUNTIME_GUARD'])\n"
        "deactivate()\nprint(before == os.environ)"
    )
    assert run(program) == ["2 off", "True"]


MISTAKE = """\
import sys
import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
rows = torch.randn(3, 4)
print(model(rows.cuda()).device, sys.argv[1:], flush=True)
model(rows)
"""


def real(program: str, *words: str, **variables: str):
    """Run a program on the real torch."""
    with open("train.py", "w") as file:  # noqa: PTH123 - in the folder of the test
        file.write(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, *words],
        env=CLEAN | {"OMP_NUM_THREADS": "1"} | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def files_of(text: str) -> list[str]:
    return [line.split('"')[1] for line in text.splitlines() if line.startswith('  File "')]


def test_a_script_fails_with_cudas_error_and_what_it_means(tmp_path):
    words = "-m runtime_guard --virtual-gpu --json found.json train.py --virtual-gpu 3"
    done = real(MISTAKE, *words.split())
    assert (done.returncode, done.stdout) == (1, "cuda:0 ['--virtual-gpu', '3']\n")
    *_, error, head, tensor, line, fix = done.stderr.splitlines()
    assert error == f"RuntimeError: {ADDMM}"
    assert head == (
        "runtime_guard: Linear has parameter 'weight' on cuda:0, but argument 'input' is on cpu"
    )
    assert tensor == "  input:      float32[3, 4] on cpu"
    assert line == "  failed at:  train.py:8: model(rows)"
    assert fix.startswith("  to fix it:  ")
    assert not [file for file in files_of(done.stderr) if "runtime_guard" in file]
    document = json.loads((tmp_path / "found.json").read_text())
    expected = {"count": 1, "name": "cuda", "memory_gb": None, "cuda": None, "capability": None}
    assert document["virtual_gpu"] == expected
    assert document["error"]["message"].splitlines()[:2] == [ADDMM, head]


def test_off_leaves_torchs_error_as_it_is():
    done = real(MISTAKE, *"-m runtime_guard --virtual-gpu --action off train.py".split())
    assert (done.returncode, done.stdout) == (1, "cuda:0 []\n")
    assert done.stderr.splitlines()[-1] == f"RuntimeError: {ADDMM}"
    first, *_, last = files_of(done.stderr)
    assert first.endswith("/train.py")
    assert last.endswith("/torch/nn/modules/linear.py")
    assert "runtime_guard" not in done.stderr


def test_a_guard_that_is_asked_for_speaks_before_torch():
    done = real(MISTAKE, *"-m runtime_guard --virtual-gpu --action raise train.py".split())
    assert (done.returncode, done.stdout) == (1, "cuda:0 []\n")
    assert "runtime_guard.DeviceMismatchError: Linear has parameter 'weight' on cuda" in done.stderr
    assert "wrapper_CUDA_addmm" not in done.stderr


def test_moving_lets_the_script_go_on_upon_the_virtual_gpu():
    words = "-W ignore -m runtime_guard --virtual-gpu --action move train.py"
    done = real(MISTAKE + "print(model(rows).device)", *words.split())
    assert (done.returncode, done.stdout) == (0, "cuda:0 []\ncuda:0\n")


def test_the_memory_of_the_device_runs_out():
    program = "import torch\nrows = torch.empty(2**20, device='cuda')\nrows.double()"
    words = "-m runtime_guard --virtual-gpu --virtual-gpu-memory 0.005 --action off train.py"
    done = real(program, *words.split())
    assert done.returncode == 1
    error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 MiB. GPU 0 has"
    assert done.stderr.splitlines()[-1].startswith(error)


def test_the_variable_makes_the_machine_of_a_script_that_imports_the_package():
    program = """\
        import runtime_guard
        from torch import nn
        print(nn.Linear(2, 2, device="mps").weight.device)
        """
    variables = {"RUNTIME_GUARD_VIRTUAL_GPU": "1", "RUNTIME_GUARD_VIRTUAL_GPU_NAME": "mps"}
    done = real(program, "train.py", **variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "mps:0\n", "")


def test_a_name_of_the_package_may_be_what_imports_torch():
    program = "import runtime_guard\nprint(runtime_guard.virtual_gpu(3))"
    done = real(program, "train.py", RUNTIME_GUARD_VIRTUAL_GPU="2")
    assert (done.stdout, done.stderr) == ("VirtualGpu(count=3, name='cuda')\n", "")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"": "two"}, "RUNTIME_GUARD_VIRTUAL_GPU is 'two': expected a number of devices, or 0"),
        (
            {"": "1", "_NAME": "hip"},
            "RUNTIME_GUARD_VIRTUAL_GPU_NAME is 'hip': expected one of cuda, mps, xpu",
        ),
        (
            {"": "1", "_MEMORY_GB": "much"},
            "RUNTIME_GUARD_VIRTUAL_GPU_MEMORY_GB is 'much': expected a number of gigabytes",
        ),
    ],
)
def test_a_variable_that_makes_no_sense_is_told_once(variables, message):
    named = {f"RUNTIME_GUARD_VIRTUAL_GPU{name}": value for name, value in variables.items()}
    done = real("import runtime_guard\nprint('goes on')", "train.py", **named)
    assert (done.returncode, done.stdout) == (0, "goes on\n")
    assert done.stderr.count("RUNTIME_GUARD_VIRTUAL_GPU") == 1
    assert message in done.stderr
    assert "nothing is guarded, and there is no virtual GPU" in done.stderr
    done = real("print('runs')", "-m", "runtime_guard", "train.py", **named)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"runtime_guard: {message}")
    assert done.stderr.count("\n") == 1


def test_an_error_that_leaves_a_block_is_explained_with_the_devices_that_it_had():
    model, rows = nn.Linear(4, 2), torch.randn(3, 4)
    with pytest.raises(RuntimeError) as caught, runtime_guard.virtual_gpu():
        model.cuda()(rows)
    assert "Linear has parameter 'weight' on cuda:0, but argument 'input' is on cpu" in note_of(
        caught.value
    )
    shown = "".join(traceback.format_exception(caught.value))
    assert not [file for file in files_of(shown) if "/runtime_guard/" in file]


def test_a_fault_of_the_virtual_gpu_keeps_its_frames(monkeypatch):
    monkeypatch.setattr(mode, "HANDLERS", None)
    with pytest.raises(AttributeError) as caught, runtime_guard.virtual_gpu():
        torch.ones(2)
    shown = "".join(traceback.format_exception(caught.value))
    assert files_of(shown)[-1].endswith("/runtime_guard/virtual/dispatch/mode.py")


def test_a_block_tells_child_processes_and_takes_it_back(monkeypatch):
    monkeypatch.setenv("RUNTIME_GUARD_VIRTUAL_GPU", "7")
    before = dict(os.environ)
    gpus = runtime_guard.virtual_gpu(2, "xpu", memory_gb=1.5, cuda="12.8", capability="9.0")
    with gpus:
        found = [os.environ[name] for name in MACHINE_VARIABLES]
        with runtime_guard.virtual_gpu():
            assert os.environ["RUNTIME_GUARD_VIRTUAL_GPU"] == "1"
            inner = machine_from_environment(os.environ)
    assert found == ["2", "xpu", "1.5", "12.8", "9.0"]
    assert inner == VirtualMachine(1)
    assert before == os.environ


def test_a_block_may_be_entered_again_inside_itself():
    gpu, other = runtime_guard.virtual_gpu(), runtime_guard.virtual_gpu(2)
    with gpu, other, gpu:
        pass
    with gpu, other:
        with gpu:
            assert torch.ones(1, device="cuda").device == torch.device("cuda:0")
        assert str(torch.ones(1).cuda(1).device) == "cuda:1"
    with pytest.raises((AssertionError, RuntimeError)):
        torch.ones(1).cuda()
