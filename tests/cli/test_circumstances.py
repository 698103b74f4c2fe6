"""devicelint as people meet it: other systems' files, large trees, company, and sudden ends."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

BROKEN = """\
import torch
assert torch.cuda.is_available()
model = torch.nn.Linear(3, 1).to("cuda")
x = torch.zeros(4, 3)
print(model(x))
"""
"""One error, DEV103 at 4:5, with a safe fix."""


def fixed_text(folder: Path) -> bytes:
    """What --fix makes of it."""
    (folder / "model.py").write_text(BROKEN, encoding="utf-8")
    assert devicelint(folder, "--fix", "--quiet", "model.py").returncode == 0
    data = (folder / "model.py").read_bytes()
    (folder / "model.py").unlink()
    return data


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "devicelint", "check", *words]


def devicelint(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=300
    )


def leftovers(folder: Path, *known: str) -> list[str]:
    """What is below a folder that nobody has put there, but for the cache."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(
        one for one in found if one not in known and not one.startswith(".devicelint_cache")
    )


class TestWindows:
    """Line ends and a byte order mark as Windows has them."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        text = BROKEN.replace("\n", "\r\n").encode("utf-8-sig")
        (tmp_path / "train.py").write_bytes(text)
        settings = '[tool.devicelint]\r\nextend-select = [\r\n  "create-then-move",\r\n]\r\n'
        (tmp_path / "pyproject.toml").write_bytes(settings.encode())
        return tmp_path

    def test_places(self, folder: Path) -> None:
        told = devicelint(folder, "--output-format", "concise")
        places = [line.split(" ")[0] for line in told.stdout.splitlines()]
        assert places == ["train.py:4:5:"]

    def test_fixes_keep_them(self, folder: Path) -> None:
        told = devicelint(folder, "--fix", "--quiet", "train.py")
        assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
        data = (folder / "train.py").read_bytes()
        assert data.startswith(b"\xef\xbb\xbfimport torch\r\n")
        assert data.count(b"\n") == data.count(b"\r\n") == data.count(b"\r")
        assert b'x = torch.zeros(4, 3, device="cuda")\r\n' in data

    def test_the_difference_can_be_applied(self, folder: Path) -> None:
        run = subprocess.run(
            command("--diff", "train.py"), cwd=folder, capture_output=True, check=False
        )
        (folder / "fix.diff").write_bytes(run.stdout)
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        applied = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "fix.diff"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert applied.stderr == ""
        after = (folder / "train.py").read_bytes()
        assert b'device="cuda")\r\n' in after
        assert devicelint(folder, "--fix", "--quiet", "train.py").returncode == 0
        assert (folder / "train.py").read_bytes() == after

    def test_old_code_is_known_by_its_lines(self, folder: Path) -> None:
        assert devicelint(folder, "--write-baseline", "old.json").returncode == 0
        assert devicelint(folder, "--baseline", "old.json").returncode == 0
        text = (folder / "train.py").read_bytes()
        (folder / "train.py").write_bytes(text.replace(b"\r\n", b"\n"))
        assert devicelint(folder, "--baseline", "old.json").returncode == 0

    def test_an_error_in_the_settings_is_at_its_line(self, folder: Path) -> None:
        settings = folder / "pyproject.toml"
        settings.write_bytes(settings.read_bytes().replace(b"create-then", b"crate-then"))
        told = devicelint(folder)
        assert told.returncode == 2
        assert told.stderr.startswith("pyproject.toml:3:4: ") or ":3:4: " in told.stderr


class TestNames:
    """Blanks, and letters of everywhere, in the paths of all that is read and written."""

    NAMES = ("my script.py", "modèle d'essai.py", "模型 训练.py", "☃ [1] {2} %20 #3.py", "-fix.py")

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        folder = tmp_path / "Ünsere Projekte (日本)" / "a & b"
        folder.mkdir(parents=True)
        for name in self.NAMES:
            (folder / name).write_text(BROKEN, encoding="utf-8")
        (folder / "pyproject.toml").write_text("[tool.devicelint]\n", encoding="utf-8")
        return folder

    def test_reports_name_them(self, folder: Path) -> None:
        told = devicelint(folder, "--output-format", "json")
        named = {Path(each["filename"]).name for each in json.loads(told.stdout)}
        assert named == set(self.NAMES)

    def test_from_elsewhere(self, folder: Path) -> None:
        told = devicelint(folder.parent.parent, "--output-format", "concise", str(folder))
        assert len(told.stdout.splitlines()) == len(self.NAMES)
        assert str(folder / "模型 训练.py") in told.stdout

    def test_all_are_fixed(self, folder: Path) -> None:
        told = devicelint(folder, "--fix", "--output-format", "concise", "--", *self.NAMES)
        assert (told.returncode, told.stdout) == (0, "")
        for name in self.NAMES:
            assert 'device="cuda")' in (folder / name).read_text(encoding="utf-8")
        assert leftovers(folder, *self.NAMES, "pyproject.toml") == []

    @pytest.mark.parametrize("form", ["agent", "github", "gitlab", "sarif", "junit", "rdjson"])
    def test_machines_read_them(self, folder: Path, form: str) -> None:
        """A log that is written beside says the same as standard output does."""
        told = devicelint(folder, "--output-format", form)
        beside = devicelint(
            folder, "--output-format", form, "--output-file", "Bericht für alle.txt"
        )
        assert told.returncode == beside.returncode == 1
        written = (folder / "Bericht für alle.txt").read_text(encoding="utf-8")
        assert written.splitlines() == told.stdout.splitlines()

    def test_a_terminal_that_knows_no_such_letters(self, folder: Path) -> None:
        run = subprocess.run(
            command("--output-format", "concise", "."),
            cwd=folder, capture_output=True, check=False, timeout=120,
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"},
        )  # fmt: skip
        assert run.returncode == 1
        assert b"Traceback" not in run.stderr
        assert len(run.stdout.splitlines()) == len(self.NAMES)


@pytest.fixture(scope="class")
def large_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five thousand files in two hundred folders; one in twenty-five speaks of torch."""
    root = tmp_path_factory.mktemp("tree")
    for folder in range(200):
        package = root / f"package_{folder % 20}" / f"part_{folder}"
        package.mkdir(parents=True)
        (package / "model.py").write_text(BROKEN.replace("x = ", f"# {folder}\nx = "))
        for module in range(24):
            (package / f"module_{module}.py").write_text(f"VALUE = {folder * module}\n")
    return root


class TestLargeTree:
    def test_every_file_is_looked_at(self, large_tree: Path) -> None:
        told = devicelint(large_tree, "--output-format", "concise", "--no-cache")
        assert len(told.stdout.splitlines()) == 200
        assert "Found 200 errors" in told.stderr

    def test_two_runs_at_once_on_one_cache(self, large_tree: Path) -> None:
        """Both find everything, and so does who comes after them."""
        part = large_tree / "package_0"
        words = command("--output-format", "concise")
        alone = devicelint(part, "--output-format", "concise", "--no-cache").stdout
        runs = [
            subprocess.Popen(words, cwd=part, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(2)
        ]
        told = [run.communicate(timeout=300) for run in runs]
        assert [run.returncode for run in runs] == [1, 1]
        assert [out.decode() for out, _ in told] == [alone, alone]
        assert [error.count(b"\n") for _, error in told] == [1, 1]
        warm = devicelint(part, "--output-format", "concise")
        assert warm.stdout == alone


def end(run: subprocess.Popen[bytes]) -> None:
    """Kill a process, and all that it has begun; it may be faster."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="no process is killed like that there")
class TestSuddenEnd:
    """Killed at any moment: every file is what it was, or what it was to become."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for number in range(50):
            (tmp_path / f"train_{number}.py").write_text(BROKEN, encoding="utf-8")
        return tmp_path

    @staticmethod
    def states(folder: Path) -> Iterator[bytes]:
        for path in folder.glob("train_*.py"):
            yield path.read_bytes()

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_fixing(
        self, folder: Path, tmp_path_factory: pytest.TempPathFactory, jobs: str
    ) -> None:
        done = fixed_text(tmp_path_factory.mktemp("model"))
        for files in (1, 25):
            run = subprocess.Popen(
                command("--fix", "-j", jobs), cwd=folder,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            while run.poll() is None and sum(one == done for one in self.states(folder)) < files:
                time.sleep(0.001)
            end(run)
            assert set(self.states(folder)) <= {BROKEN.encode(), done}
        told = devicelint(folder, "--fix")
        assert told.returncode == 0
        assert set(self.states(folder)) == {done}

    def test_checking(self, folder: Path) -> None:
        """What a dead run leaves in the cache misleads nobody."""
        alone = devicelint(folder, "--no-cache", "--output-format", "concise").stdout
        for delay in (0.3, 0.6):
            run = subprocess.Popen(
                command("-j", "2"), cwd=folder,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            time.sleep(delay)
            end(run)
            told = devicelint(folder, "--output-format", "concise")
            assert (told.returncode, told.stdout) == (1, alone)

    def test_a_cache_that_was_cut_short(self, folder: Path) -> None:
        first = devicelint(folder, "--output-format", "concise")
        kept = [path for path in (folder / ".devicelint_cache").rglob("*") if path.is_file()]
        large = [path for path in kept if path.stat().st_size > 1000]
        assert large
        for path in large:
            path.write_bytes(path.read_bytes()[:500])
        told = devicelint(folder, "--output-format", "concise")
        assert (told.returncode, told.stdout) == (1, first.stdout)
        assert "Traceback" not in told.stderr


def obey_permissions() -> None:
    """Let permissions hold for the superuser, too, in the process that is about to begin."""
    drop, overrides, reads = 24, 1, 2
    libc = ctypes.CDLL(None)
    for capability in (overrides, reads):
        libc.prctl(drop, capability, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="the superuser obeys no permissions elsewhere")
class TestReadOnly:
    """A tree in which nothing can be written."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Iterator[Path]:
        tree = tmp_path / "tree"
        tree.mkdir()
        (tree / "train.py").write_text(BROKEN, encoding="utf-8")
        (tree / "train.py").chmod(0o444)
        tree.chmod(0o555)
        yield tree
        tree.chmod(0o755)

    @staticmethod
    def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*words), cwd=folder, capture_output=True, encoding="utf-8", check=False,
            timeout=120, preexec_fn=obey_permissions,
        )  # fmt: skip

    def test_checking_needs_no_cache(self, folder: Path) -> None:
        told = self.run(folder, "--output-format", "concise")
        assert told.returncode == 1
        assert len(told.stdout.splitlines()) == 1
        assert "Traceback" not in told.stderr
        assert "internal-error" not in told.stderr

    def test_fixing_says_what_cannot_be_written(self, folder: Path) -> None:
        told = self.run(folder, "--fix", "--output-format", "concise")
        assert told.returncode == 2
        assert told.stderr == "train.py:1:1: is read-only\n"
        assert (folder / "train.py").read_text(encoding="utf-8") == BROKEN

    @pytest.mark.parametrize("option", ["--write-baseline", "--output-file"])
    def test_nor_can_other_files(self, folder: Path, option: str) -> None:
        told = self.run(folder, "--output-format", "json", option, "made.txt")
        assert told.returncode == 2
        assert "made.txt" in told.stderr
        assert "Permission denied" in told.stderr
        assert "Traceback" not in told.stderr
        assert leftovers(folder, "train.py") == []

    def test_a_file_that_cannot_be_read(self, folder: Path) -> None:
        (folder / "train.py").chmod(0o000)
        told = self.run(folder)
        assert told.returncode == 2
        assert told.stderr.startswith("train.py:1:1: cannot be read: Permission denied\n")
