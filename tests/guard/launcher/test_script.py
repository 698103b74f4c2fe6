"""A script that is run through the guard does what it does without, to the byte.

Each program here is run twice, by Python and by `python -m runtime_guard`, and what it printed
and its exit status are compared. None of them imports torch.
"""

import os
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from runtime_guard.launcher.script import exit_status

ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("RUNTIME_GUARD", "PYTHON", "COV_"))
}


def run(folder: Path, *words: str, stdin: str = "", **variables: str):
    """What Python does with these words: status, output, errors."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=ENVIRONMENT | variables,
        input=stdin.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode(), re.sub("0x[0-9a-f]+", "0x", done.stderr.decode())


def assert_same(folder: Path, *words: str, flags: tuple[str, ...] = (), **options: str):
    """Compare, and return what both did."""
    expected = run(folder, *flags, *words, **options)
    guarded = run(folder, *flags, "-m", "runtime_guard", *words, **options)
    assert guarded == expected
    return expected


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text), encoding="utf-8")


SHOW = """\
    "What a program sees of itself."
    import sys
    print(sys.argv, sys.path, list(globals()))
    print([__name__, __doc__, __package__, __file__, __cached__, __annotations__])
    print(type(__loader__).__name__, vars(__loader__).get("name"), vars(__loader__).get("path"))
    print(__spec__ and (__spec__.name, __spec__.origin), __builtins__)
    print(sys.modules["__main__"].__dict__ is globals(), sys.exc_info())
"""

# Each begins with what it shows, and the exit status.
PROGRAMS = r"""
=== comes to its end: 0
print('done')
=== exits with a number: 7
import sys
sys.exit(7)
=== exits with None: 0
import sys
sys.exit()
=== exits with a message: 1
import sys
sys.exit('no data')
=== exits with something else: 1
raise SystemExit([1, 2])
=== exits with a number too large: 44
raise SystemExit(300)
=== leaves without cleaning up: 5
import os
os._exit(5)
=== is killed: -9
import os
os.kill(os.getpid(), 9)
=== is terminated: -15
import os
os.kill(os.getpid(), 15)
=== is interrupted: -2
raise KeyboardInterrupt
=== is interrupted by the signal: -2
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(5)
=== raises: 1
def f(x):
    return 1 / x


f(0)
=== raises from another: 1
try:
    {}['a']
except KeyError as error:
    raise ValueError('b') from error
=== raises while handling: 1
try:
    {}['a']
except KeyError:
    raise ValueError('b')
=== raises what has no Exception above it: 1
class E(BaseException): pass
raise E('x')
=== raises from an imported function: 1
import json
json.loads('{')
=== fails to import: 1
import nothing_of_this_name
=== imports what fails: 1
import failing
=== imports torch, which fails: 1
import torch
=== imports part of torch, which fails: 1
import torch.nn
=== catches that torch fails: 0
import traceback
for _ in range(2):
    try:
        import torch
    except ZeroDivisionError:
        traceback.print_exc()
=== has a syntax error: 1
x = (1,

print('a' 1)
=== is indented wrongly: 1
if 1:
x = 2
=== has an escape that is none: 0
print('\d')
=== annotates with an unknown name: 1
def f(x: unknown): pass
=== has annotations: 0
x: int = 3
print(__annotations__)
=== warns: 0
import warnings
warnings.warn('careful')
=== sets a hook for exceptions: 1
import sys, traceback
def hook(kind, error, tb):
    print(kind, error, [f.name for f in traceback.extract_tb(tb)])
    print(tb is error.__traceback__, sys.excepthook is hook)
sys.excepthook = hook
1 / 0
=== sets a hook that fails: 1
import sys
def hook(kind, error, tb):
    raise LookupError('hook')
sys.excepthook = hook
1 / 0
=== sets a hook that exits: 9
import sys
sys.excepthook = lambda *what: sys.exit(9)
1 / 0
=== calls at exit: 3
import atexit, sys
atexit.register(print, 'bye')
atexit.register(lambda: 1 / 0)
sys.exit(3)
=== has a thread that goes on: 0
import threading, time
def late():
    time.sleep(0.1)
    import __main__
    print('late', __main__.x)
threading.Thread(target=late).start()
x = 1
=== has a thread that fails: 0
import threading
def f():
    1 / 0
t = threading.Thread(target=f, name='t')
t.start(); t.join()
=== forks: 0
import os, sys
if os.fork() == 0:
    sys.exit(4)
print(os.wait()[1] >> 8)
=== pickles what it defines: 0
import pickle
class C: pass
d = pickle.dumps(C())
print(d, type(pickle.loads(d)))
=== reads its input: 0
print(input().upper())
=== imports its neighbour: 0
import neighbour
print(neighbour.__name__)
=== looks at its source: 0
import inspect
def f(): pass
print(inspect.getsource(f))
=== closes its output: 0
import sys
print('a')
sys.stdout.close()
=== recurses without end: 1
import sys
sys.setrecursionlimit(200)
sys.tracebacklimit = 2
def f(): f()
f()
"""


def programs() -> list[tuple[str, ...]]:
    headed = [program.split("\n", 1) for program in PROGRAMS.split("=== ")[1:]]
    return [(*heading.rsplit(": ", 1), text) for heading, text in headed]


@pytest.mark.parametrize(
    ("status", "text"), [pytest.param(*rest, id=what) for what, *rest in programs()]
)
def test_a_script_that(status, text, tmp_path):
    write(tmp_path, "train.py", text)
    write(tmp_path, "neighbour.py", "")
    for name in ("failing.py", "torch/__init__.py"):
        write(tmp_path, name, "def fail():\n    1 / 0\n\n\nfail()\n")
    done = assert_same(tmp_path, "train.py", stdin="typed\n")
    assert done[0] == int(status)


def with_forms(folder: Path) -> None:
    write(folder, "deep/er/script.py", SHOW)
    write(folder, "package/__init__.py", "")
    write(folder, "package/__main__.py", SHOW)
    write(folder, "package/module.py", SHOW)
    write(folder, "empty/notes.txt", "")
    (folder / "link.py").symlink_to("deep/er/script.py")
    with zipfile.ZipFile(folder / "archive.pyz", "w") as archive:
        archive.writestr("__main__.py", textwrap.dedent(SHOW))


@pytest.mark.parametrize(
    "words",
    [
        "deep/er/script.py --epochs 3 --action warn --help",
        "./deep/../deep/er/script.py",
        "link.py",
        "deep/er/script.py -- -m x",
        "package",
        "package/ a",
        "./archive.pyz a",
        "-m package a --json b",
        "-m package.module",
        "-mpackage.module -m",
        "missing.py",
        "empty",
        "-m missing",
        "-m package.missing",
        "-m empty",
        "-m missing.py",
    ],
)
def test_a_program_named(words, tmp_path):
    with_forms(tmp_path)
    assert_same(tmp_path, *words.split())


def test_an_absolute_path_from_another_folder(tmp_path):
    with_forms(tmp_path)
    assert_same(tmp_path / "empty", str(tmp_path / "deep/er/script.py"))


def test_the_current_folder_as_the_program(tmp_path):
    with_forms(tmp_path)
    assert_same(tmp_path / "package", ".")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="-P is new in Python 3.11")
def test_a_path_that_is_to_stay_as_it_is(tmp_path):
    with_forms(tmp_path)
    assert_same(tmp_path, "deep/er/script.py", flags=("-P",))


def test_optimisation_and_warnings_hold_for_the_script(tmp_path):
    write(tmp_path, "train.py", "assert 0\nimport warnings\nwarnings.warn('w')\nprint(__debug__)\n")
    done = assert_same(tmp_path, "train.py", flags=("-O", "-W", "error::UserWarning"))
    assert done[0] == 1


def test_the_traceback_of_a_module_is_that_of_python(tmp_path):
    write(tmp_path, "package/__init__.py", "")
    write(tmp_path, "package/train.py", "1 / 0\n")
    write(tmp_path, "package/bad.py", "x = (\n")
    write(tmp_path, "broken/__init__.py", "1 / 0\n")
    _, _, errors = assert_same(tmp_path, "-m", "package.train")
    assert "runtime_guard" not in errors
    assert_same(tmp_path, "-m", "package.bad")
    assert_same(tmp_path, "-m", "broken.train")


def test_a_compiled_script(tmp_path):
    write(tmp_path, "train.py", "print(__file__, __name__)\n")
    run(tmp_path, "-c", "import py_compile; py_compile.compile('train.py', 'train.pyc')")
    assert_same(tmp_path, "train.pyc")


def test_a_binary_file_is_refused_with_its_line(tmp_path):
    (tmp_path / "train.py").write_bytes(b"x = 1\n\x7fELF\0\0\n")
    status, _, errors = run(tmp_path, "-m", "runtime_guard", "train.py")
    assert status == 1
    assert 'train.py", line 2' in errors
    assert errors.endswith("SyntaxError: source code cannot contain null bytes\n")


def test_spawned_processes_import_the_script_and_find_its_classes(tmp_path):
    write(
        tmp_path,
        "train.py",
        """\
        import multiprocessing, sys
        from dataclasses import dataclass

        @dataclass
        class Batch:
            size: int

        def work(batch):
            print(__name__, sys.argv, batch, flush=True)
            return Batch(batch.size + 1)

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [Batch(1)]))
        """,
    )
    _, output, _ = assert_same(tmp_path, "train.py", "--epochs", "3")
    assert output.startswith("__mp_main__ ['train.py', '--epochs', '3'] Batch(size=1)")


def test_what_python_remembers_of_the_last_exception(tmp_path):
    write(tmp_path, "train.py", "1 / 0\n")
    asked = "import sys, traceback; print(traceback.extract_tb(sys.last_traceback)[0].name)\n"
    _, output, _ = assert_same(tmp_path, "train.py", flags=("-i", "-q"), stdin=asked)
    assert output == "<module>\n"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (None, 0),
        (SystemExit(None), 0),
        (SystemExit(3), 3),
        (SystemExit(-1), 255),
        (SystemExit("why"), 1),
        (KeyboardInterrupt(), 130),
        (ValueError(), 1),
    ],
    ids=repr,
)
def test_the_status_that_is_reported(error, status):
    assert exit_status(error) == status
