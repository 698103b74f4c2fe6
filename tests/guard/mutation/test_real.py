"""Real GPUs in a proof: how they are found, and which of them a run is shown.

No machine of the tests has one. What asks for them and what runs are told is looked at instead.
"""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from runtime_guard.mutation import real
from runtime_guard.mutation.running import Job, ScriptMachine, _command, _environment

CUDA = "cuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n"
ROCM = "cuda: Optional[str] = None\nhip: Optional[str] = '6.4.43482-0f2d60242'\n"
CPU = "cuda: Optional[str] = None\nhip: Optional[str] = None\nxpu: Optional[str] = None\n"
OLD = "__version__ = '2.6.0'\ncuda: str = '12.4'\n"


def found(monkeypatch, tmp_path, version, answer):
    """What is found where torch is of a build, and answers so when it is asked."""
    (tmp_path / "version.py").write_text(version)
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(real, "find_spec", lambda _name: spec)
    asked = []

    def run(command, **_options):
        asked.append(command)
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(stdout=answer)

    monkeypatch.setattr(subprocess, "run", run)
    count = real.real_gpus()
    return count, len(asked)


@pytest.mark.parametrize(
    ("version", "answer", "expected"),
    [
        (CUDA, b"2\n", (2, 1)),
        (ROCM, b"1\n", (1, 1)),
        (OLD, b"0\n", (0, 1)),
        (CPU, b"1\n", (0, 0)),
        (CUDA, b"a warning\n", (0, 1)),
        (CUDA, subprocess.TimeoutExpired("python", 60), (0, 1)),
        (CUDA, subprocess.CalledProcessError(1, "python"), (0, 1)),
    ],
)
def test_torch_is_asked_where_it_is_built_for_gpus(
    monkeypatch, tmp_path, version, answer, expected
):
    assert found(monkeypatch, tmp_path, version, answer) == expected


def test_what_is_asked_can_be_answered():
    said = subprocess.run([sys.executable, "-c", real.ASKED], capture_output=True, check=True)
    assert int(said.stdout) >= 0


@pytest.mark.parametrize(
    ("inherited", "gpus", "visible"),
    [
        ({}, 1, "0"),
        ({}, 2, "0,1"),
        ({}, 0, ""),
        ({"CUDA_VISIBLE_DEVICES": "3,1,2"}, 2, "3,1"),
        ({"CUDA_VISIBLE_DEVICES": "GPU-8f1a"}, 1, "GPU-8f1a"),
    ],
)
def test_a_run_finds_as_many_as_its_machine_has(inherited, gpus, visible):
    machine = ScriptMachine(gpus, real=gpus > 0)
    told = _environment(Job("train.py"), machine, Path("folder"), inherited)
    assert told["CUDA_VISIBLE_DEVICES"] == visible


def test_where_they_are_real_none_are_virtual():
    words = {
        gpus: _command(Job("train.py"), ScriptMachine(gpus, real=gpus == 1)) for gpus in range(3)
    }
    assert [word for word in words[0] if "virtual" in word] == ["--virtual-gpu=0"]
    assert [word for word in words[1] if "virtual" in word] == []
    assert [word for word in words[2] if "virtual" in word] == ["--virtual-gpu=2"]
    told = _environment(
        Job("train.py"), ScriptMachine(2), Path("folder"), {"CUDA_VISIBLE_DEVICES": "5"}
    )
    assert told["CUDA_VISIBLE_DEVICES"] == "5"
