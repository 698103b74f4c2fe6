"""The guard of a whole process: when it begins, who else is guarded, and what it leaves behind.

Most of these programs import a torch of a few lines from their own folder, and a guard that says
what it is told; the last ones run the real one.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from runtime_guard.children import BOOT

CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("RUNTIME_GUARD", "PYTHON", "COV_"))
}

# Stands before each program: a guard that prints what happens to it.
SAYING = """\
import json, os, sys
import runtime_guard
from runtime_guard.launcher import activation as _activation
from runtime_guard.launcher.activation import activate, activate_from_environment, deactivate
from runtime_guard.settings import Environment, Settings

class Saying:
    def __init__(self, name, **options):
        self.name = name
        torch = sys.modules["torch"]
        print("begin", name, options.get("action", ""), getattr(torch, "ready", "unfinished"))
    def remove(self):
        print("end", self.name)

runtime_guard.install = lambda **options: Saying("check", **options)
runtime_guard.explain = lambda: Saying("explain")
runtime_guard.record = lambda path: Saying(f"record {path} {os.environ.get('RUNTIME_GUARD_CHILD')}")
"""

TORCH = {
    "torch/__init__.py": "import sys\nfrom torch import nn\nready = 'ready'\nprint('torch')\n",
    "torch/nn.py": "",
}


@pytest.fixture
def run(tmp_path):
    """Runs a program beside a torch of a few lines: what it printed, line by line."""

    def run_it(program: str, *flags: str, errors: str = "", **variables: str) -> list[str]:
        for name, text in TORCH.items():
            file = tmp_path / name
            file.parent.mkdir(exist_ok=True)
            if not file.exists():
                file.write_text(text)
        (tmp_path / "program.py").write_text(textwrap.dedent(program))
        done = subprocess.run(
            [sys.executable, *flags, "program.py"],
            cwd=tmp_path,
            env=CLEAN | variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode == 0) is (errors == ""), done.stderr
        assert errors in done.stderr
        if not errors:
            assert done.stderr == ""
        return done.stdout.splitlines()

    return run_it


def test_the_guard_begins_when_torch_has_been_imported(run):
    program = SAYING + (
        "activate(Environment('check'))\nprint('before', len(sys.modules['sys'].meta_path))\n"
        "import torch\nimport torch\nprint('after', len(sys.meta_path))"
    )
    before, *rest = run(program)
    assert rest == ["torch", "begin check raise ready", f"after {int(before.split()[1]) - 1}"]


def test_it_begins_at_once_where_torch_is_there_already(run):
    program = SAYING + "import torch\nactivate(Environment('warn', Settings('warn')))\nprint('x')"
    assert run(program) == ["torch", "begin check warn ready", "x"]


def test_a_program_without_torch_imports_nothing_for_it(run):
    program = SAYING + (
        "activate(Environment('check'))\n"
        "heavy = ('torch', 'rich', 'runtime_guard.hooks.guard')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run(program) == ["[]"]


def test_explaining_alone_installs_no_check(run):
    program = SAYING + "activate(Environment('explain'))\nimport torch"
    assert run(program) == ["torch", "begin explain  ready"]


def test_torch_is_as_it_would_be(run):
    program = SAYING + (
        "from importlib.machinery import SourceFileLoader\n"
        "activate(Environment('check'))\n"
        "import torch.nn, importlib, pkgutil\n"
        "loader = torch.__loader__\n"
        "print(type(loader) is SourceFileLoader, torch.__spec__.loader is loader)\n"
        "print(vars(loader), pkgutil.get_data('torch', 'nn.py'))\n"
        "print(importlib.reload(torch) is torch)"
    )
    *lines, attributes, reloaded, same = run(program)
    assert lines == ["torch", "begin check raise ready", "True True"]
    assert "exec_module" not in attributes
    assert (reloaded, same) == ("torch", "True")


def test_who_only_looks_whether_torch_is_there_starts_nothing(run):
    program = SAYING + (
        "import importlib.util as util\n"
        "activate(Environment('check'))\n"
        "print(util.find_spec('torch').name, 'torch' in sys.modules)\n"
        "print(util.find_spec('torch.nn').name)\n"
        "import torch"
    )
    # To find a part of torch is to import torch.
    assert run(program) == ["torch False", "torch", "begin check raise ready", "torch.nn"]


def test_an_import_that_failed_may_be_tried_again(run, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text(
        "import os\nif 'BROKEN' in os.environ: raise ImportError('libcuda')\nready = 'ready'\n"
    )
    program = SAYING + (
        "activate(Environment('check'))\nos.environ['BROKEN'] = '1'\n"
        "try:\n    import torch\nexcept ImportError as error:\n    print(error)\n"
        "del os.environ['BROKEN']\nimport torch"
    )
    assert run(program) == ["libcuda", "begin check raise ready"]


def test_threads_that_import_torch_at_once_find_it_guarded_once(run, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("import time\ntime.sleep(0.1)\nready = 'ready'\n")
    program = SAYING + (
        "import threading\nactivate(Environment('check'))\nseen = []\n"
        "def work():\n    import torch\n    seen.append(torch.ready)\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(seen == ['ready'] * 8)"
    )
    assert run(program) == ["begin check raise ready", "True"]


def test_a_guard_that_cannot_begin_warns_and_torch_is_imported(run):
    program = SAYING + (
        "import warnings\nwarnings.simplefilter('error')\n"
        "def fail(**options): raise ValueError('too old')\n"
        "runtime_guard.install = fail\nactivate(Environment('check'))\nsys.stderr = sys.stdout\n"
        "import torch\nprint(torch.ready)"
    )
    message = "runtime_guard: runtime_guard is not in effect: ValueError: too old"
    assert run(program) == ["torch", message, "ready"]


def test_a_recording_that_cannot_begin_is_told_at_the_import_and_the_guard_holds(run):
    program = SAYING + (
        "def fail(path): raise OSError(28, 'cannot record transfers: No space', path)\n"
        "runtime_guard.record = fail\nactivate(Environment('check', record='r.jsonl'))\n"
        "sys.stderr = sys.stdout\nimport torch\n"
    )
    begun, imported, warning, *line = run(program)
    assert (begun, imported) == ("torch", "begin check raise ready")
    assert warning.startswith("program.py:") or "/program.py:" in warning
    assert warning.endswith(
        "RuntimeWarning: runtime_guard does not record: "
        "[Errno 28] cannot record transfers: No space: 'r.jsonl'"
    )
    assert line == ["  import torch"]


def test_activating_the_same_twice_is_activating_it_once(run):
    program = SAYING + (
        "one = activate(Environment('check'))\nimport torch\n"
        "print(activate(Environment('check')) is one)\n"
        "activate(Environment('warn', Settings('warn')))\ndeactivate()\ndeactivate()"
    )
    assert run(program) == [
        *("torch", "begin check raise ready", "True"),
        *("end check", "begin check warn ready", "end check"),
    ]


@pytest.mark.parametrize("imports", ["import torch\n", ""])
def test_deactivating_leaves_the_process_as_it_was(imports, run):
    program = (
        SAYING
        + imports
        + (
            "environ, path = dict(os.environ), list(sys.meta_path)\n"
            "activate(Environment('check', Settings(steps=3), 'run.jsonl'))\n"
            "print(os.environ['RUNTIME_GUARD_STEPS'], os.environ['PYTHONPATH'][-11:])\n"
            "print(environ == os.environ, path == sys.meta_path)\n"
            "deactivate()\n"
            "print(environ == os.environ, path == sys.meta_path)"
        )
    )
    lines = run(program, RUNTIME_GUARD_EVERY="2", PYTHONPATH="elsewhere")
    said = [line for line in lines if not line.startswith(("torch", "begin", "end"))]
    assert said == ["3 t:elsewhere", f"False {bool(imports)}", "True True"]
    ends = [line for line in lines if line.startswith("end")]
    assert ends == (["end record run.jsonl None", "end check"] if imports else [])


def test_only_the_children_of_a_recorded_run_are_called_children(run):
    program = SAYING + (
        "activate(Environment('explain', record='run.jsonl'))\nimport torch\n"
        "print(os.environ['RUNTIME_GUARD_CHILD'])"
    )
    own = ["torch", "begin explain  ready", "begin record run.jsonl None  ready", "1"]
    assert run(program) == own
    own[2] = "begin record run.jsonl 1  ready"
    assert run(program, RUNTIME_GUARD_CHILD="1") == own


SEE = """
from runtime_guard.launcher.activation import _current
print([each.asked.mode for each in _current])
"""


@pytest.mark.parametrize(
    ("value", "modes"),
    [("check", ["check"]), ("WARN", ["warn"]), ("explain", ["explain"]), ("off", []), ("", [])],
)
def test_importing_the_package_honours_the_environment(value, modes, run):
    assert run("import runtime_guard\n" + SEE, RUNTIME_GUARD=value) == [str(modes)]
    environment = "import os, runtime_guard\nprint(sorted(k for k in os.environ if 'GUARD' in k))"
    assert len(run(environment, RUNTIME_GUARD=value)[0]) == len(
        str(
            ["RUNTIME_GUARD", "RUNTIME_GUARD_CHILD", "RUNTIME_GUARD_EVERY"]
            if modes
            else ["RUNTIME_GUARD"]
        )
    )


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"RUNTIME_GUARD": "chekc"},
            "RUNTIME_GUARD is 'chekc': expected one of check, explain, warn, move, off",
        ),
        (
            {"RUNTIME_GUARD": "check", "RUNTIME_GUARD_STEPS": "0"},
            "RUNTIME_GUARD_STEPS is '0': expected a whole number, 1 or more",
        ),
    ],
)
def test_a_value_that_makes_no_sense_is_warned_of_once_and_never_raises(variables, message, run):
    message += "; nothing is guarded"
    program = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n    import runtime_guard\n"
        "print([str(warning.message) for warning in caught])\n" + SEE
    )
    assert run(program, **variables) == [str([message]), "[]"]
    strict = "import sys\nsys.stderr = sys.stdout\nimport runtime_guard\n" + SEE
    assert run(strict, "-W", "error", **variables) == [f"runtime_guard: {message}", "[]"]


BEGUN = """\
import subprocess, sys
finders = [type(finder).__name__ for finder in sys.meta_path]
print("TorchFinder" in finders, "boot" in str(sys.path), flush=True)
"""


def test_a_child_process_is_guarded_whatever_it_imports(run):
    program = BEGUN + "import os\nprint(os.environ['PYTHONPATH'].split(os.pathsep)[1:])"
    variables = {"RUNTIME_GUARD": "check", "PYTHONPATH": os.pathsep.join([BOOT, "a", "b"])}
    assert run(program, **variables) == ["True False", "['a', 'b']"]
    del variables["RUNTIME_GUARD"]
    assert run(program, **variables) == ["False False", "['a', 'b']"]


def test_so_are_its_own_children_in_an_environment_without_the_package(run):
    program = BEGUN + (
        "if sys.argv[1:] != ['child']:\n"
        f"    subprocess.run([{sys._base_executable!r}, __file__, 'child'], check=True)\n"  # type: ignore[attr-defined]
        "else:\n    print('runtime_guard' in sys.modules, 'site-packages' in str(sys.path))"
    )
    lines = run(program, RUNTIME_GUARD="check", PYTHONPATH=BOOT)
    assert lines[:3] == ["True False", "True False", lines[2]]
    assert lines[2].startswith("True")


def test_the_sitecustomize_of_the_user_runs_as_it_would(run, tmp_path):
    (tmp_path / "site").mkdir()
    own = tmp_path / "site/sitecustomize.py"
    own.write_text("import sys\nprint('mine', __name__, __file__)\n")
    program = "import sys\nprint(sys.modules['sitecustomize'].__file__, *sys.path[:2])"
    plain = run(program, PYTHONPATH=str(own.parent))
    path = os.pathsep.join([BOOT, str(own.parent)])
    assert plain == run(program, PYTHONPATH=path, RUNTIME_GUARD="check")
    assert plain[0] == f"mine sitecustomize {own}"


@pytest.mark.parametrize("fault", ["import nothing_there", "1 / 0", "import sitecustomize.x"])
def test_the_sitecustomize_of_the_user_fails_as_it_would(fault, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(fault + "\n")
    errors = []
    for path in (str(tmp_path), os.pathsep.join([BOOT, str(tmp_path)])):
        done = subprocess.run(
            [sys.executable, "-c", "print('goes on')"],
            env=CLEAN | {"PYTHONPATH": path, "RUNTIME_GUARD": "check"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout == "goes on\n"
        errors.append(done.stderr)
    assert errors[0] == errors[1]
    assert "Error in sitecustomize" in errors[0]


def real(folder: Path, program: str, *words: str, **variables: str):
    """Run a program that imports the real torch; `meta` is its second device."""
    (folder / "train.py").write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=CLEAN | {"OMP_NUM_THREADS": "1"} | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_script_that_imports_the_package_is_guarded_as_the_environment_asks(tmp_path):
    program = """\
        import os
        import torch
        import runtime_guard

        model = torch.nn.Linear(4, 2, bias=False)
        try:
            model(torch.randn(3, 4, device="meta"))
        except runtime_guard.DeviceMismatchError as error:
            print(error.mismatches[0].argument)
        print(os.environ["RUNTIME_GUARD"], os.environ["RUNTIME_GUARD_META"])
        """
    done = real(tmp_path, program, "train.py", RUNTIME_GUARD="check", RUNTIME_GUARD_META="1")
    assert (done.stdout, done.stderr) == ("input\ncheck 1\n", "")


def test_a_spawned_worker_of_a_loader_is_guarded_and_heard(tmp_path):
    program = """\
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Images(Dataset):
            def __init__(self):
                self.model = torch.nn.Linear(4, 2, bias=False)

            def __len__(self):
                return 1

            def __getitem__(self, index):
                self.model(torch.randn(1, 4, device="meta"))
                return index

        if __name__ == "__main__":
            print(*DataLoader(Images(), num_workers=1, multiprocessing_context="spawn"))
        """
    options = "-m runtime_guard --check-meta --action warn --json found.json train.py".split()
    done = real(tmp_path, program, *options)
    assert (done.returncode, done.stdout) == (0, "tensor([0])\n"), done.stderr
    assert "train.py:12: DeviceMismatchWarning: Linear has parameter 'weight' on cpu" in done.stderr
    assert done.stderr.endswith(f"runtime_guard: 1 mismatch; written to {tmp_path}/found.json\n")
    found = json.loads((tmp_path / "found.json").read_text())
    assert [each["failed_at"]["line"] for each in found["mismatches"]] == [12]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_a_killed_child_found_is_heard(method, tmp_path):
    program = """\
        import multiprocessing, os, signal, sys
        import torch

        def work():
            try:
                torch.nn.Linear(4, 2)(torch.randn(1, 4, device="meta"))
            finally:
                os.kill(os.getpid(), signal.SIGKILL)

        if __name__ == "__main__":
            child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
            child.start()
            child.join()
        """
    options = "-m runtime_guard --check-meta --json found.json train.py".split()
    done = real(tmp_path, program, *options, method)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert [each["failed_at"]["line"] for each in found["mismatches"]] == [6]


def test_every_rank_of_torchrun_is_guarded_and_heard(tmp_path):
    program = """\
        import torch
        import torch.distributed

        torch.distributed.init_process_group("gloo")
        rank = torch.distributed.get_rank()
        model = torch.nn.Linear(4, 2, bias=False)
        optimizer = torch.optim.SGD(model.parameters())
        model(torch.randn(1, 4, device="meta" if rank == 1 else "cpu"))
        optimizer.step()
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()
        """
    launcher = "-m torch.distributed.run --standalone --nproc-per-node 2 train.py"
    options = f"-m runtime_guard --check-meta --action warn --json found.json {launcher}"
    done = real(tmp_path, program, *options.split())
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("DeviceMismatchWarning") == 1
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["status"], found["steps"]) == (0, 1)
    assert [each["rank"].split()[:2] for each in found["mismatches"]] == [["rank", "1"]]
