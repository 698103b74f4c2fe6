"""Which files are checked, and how they are read and replaced: as any user, and as root."""

import os
import stat
import sys
from pathlib import Path

import pytest

from devicelint.cli.run.search import python_files
from devicelint.config import Config
from devicelint.finding import InputError
from devicelint.workspace import files
from devicelint.workspace.files import read_source, replace_file, replace_files

symlinks = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and pipes are of POSIX")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")


def found(*paths: str, **settings) -> list[str]:
    searched = python_files([Path(path) for path in paths], Config(root=Path.cwd(), **settings))
    return [str(each) if isinstance(each, InputError) else each.as_posix() for each in searched]


class TestSearch:
    def test_python_files_in_order(self):
        tree(
            "b.py",
            "a/z.py",
            "a/b/c.py",
            "c.pyw",
            "d.pyi",
            "e.txt",
            "f.ipynb",
            "f.md",
            "g.py.bak",
            "h",
        )
        assert found(".") == ["a/b/c.py", "a/z.py", "b.py", "c.pyw", "f.ipynb"]

    def test_named_files_whatever_they_are_called(self):
        tree("script", "a.txt", ".venv/a.py", "b.py")
        assert found("script", "a.txt", ".venv/a.py") == ["script", "a.txt", ".venv/a.py"]

    def test_the_paths_as_they_were_given(self, tmp_path):
        tree("a/b.py")
        assert found("a/../a") == ["a/../a/b.py"]
        assert found(str(tmp_path / "a")) == [(tmp_path / "a/b.py").as_posix()]

    def test_what_tools_made_is_passed_over(self):
        tree(*(f"{name}/a.py" for name in [".git", "venv", "build", "__pycache__", "x/.tox"]))
        tree("env/pyvenv.cfg", "env/lib/a.py", "src/builds/a.py", "environment/a.py")
        assert found(".") == ["environment/a.py", "src/builds/a.py"]

    def test_unless_it_is_named(self):
        tree("build/a.py", "env/pyvenv.cfg", "env/a.py")
        assert found("build", "env") == ["build/a.py", "env/a.py"]

    def test_exclude(self):
        tree("a.py", "a_pb2.py", "x/b_pb2.py", "third_party/c.py", "x/third_party/d.py", "x/y/e.py")
        assert found(".", exclude=("*_pb2.py", "/third_party", "x/y/")) == [
            "a.py",
            "x/third_party/d.py",
        ]

    def test_what_is_excluded_is_checked_where_it_is_named(self):
        tree("data/a.py", "data/b.py")
        assert found("data", exclude=("data",)) == ["data/a.py", "data/b.py"]
        assert found("data/b.py", exclude=("data", "*.py")) == ["data/b.py"]

    def test_unless_exclusion_is_forced(self):
        tree("data/a.py", "data/b.py", "c.py", "d.py")
        paths = [Path(path) for path in ("data", "data/b.py", "c.py", "d.py")]
        config = Config(root=Path.cwd(), exclude=("data", "c.*"))
        assert list(python_files(paths, config, force_exclude=True)) == [Path("d.py")]

    def test_each_file_once(self, tmp_path):
        tree("a/b.py", "c.py")
        assert found("a", "a/b.py", ".", str(tmp_path / "c.py"), "./c.py") == ["a/b.py", "c.py"]

    def test_a_missing_path_is_told_and_the_rest_is_found(self):
        tree("a.py")
        assert found("none.py", "a.py", "none") == [
            "none.py:1:1: no such file or directory",
            "a.py",
            "none:1:1: no such file or directory",
        ]

    def test_a_file_is_no_folder(self):
        tree("a.py")
        assert found("a.py/b.py") == ["a.py/b.py:1:1: cannot be read: Not a directory"]

    def test_a_folder_without_permission(self, monkeypatch):
        tree("a.py", "b/secret.py", "c.py")
        scan = os.scandir

        def refuse(path):
            if Path(path).name == "b":
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)

        monkeypatch.setattr(os, "scandir", refuse)
        told = "b:1:1: cannot be read: Permission denied"
        assert found(".") == ["a.py", told, "c.py"]
        assert found("b", "c.py") == [told, "c.py"]

    def test_an_empty_folder(self):
        Path("a").mkdir()
        assert found("a") == []

    def test_a_folder_that_looks_like_a_file(self):
        tree("a.py/b.py")
        assert found(".") == ["a.py/b.py"]

    def test_very_deep_folders(self):
        depth = 1_200
        here = Path.cwd()
        for _ in range(depth):
            Path("d").mkdir()
            os.chdir("d")
        tree("a.py")
        os.chdir(here)
        try:
            assert [Path(path).name for path in found(".")] == ["a.py"]
        finally:
            remove_deep(here, depth)

    @symlinks
    def test_links_to_folders_are_not_followed(self):
        tree("a/b.py")
        Path("a/loop").symlink_to("..")
        Path("c").symlink_to("a")
        Path("d.py").symlink_to("a")
        assert found(".") == ["a/b.py"]
        assert found("c") == ["c/b.py"]

    @symlinks
    def test_links_to_files_are(self):
        tree("a.py", "b.txt")
        Path("c.py").symlink_to("b.txt")
        Path("d.py").symlink_to("a.py")
        assert found(".") == ["a.py", "c.py"]

    @symlinks
    def test_links_to_nowhere(self):
        Path("a.py").symlink_to("a.py")
        Path("b.py").symlink_to("none")
        Path(".#c.py").symlink_to("user@host.1234")
        assert found(".") == ["a.py", "b.py"]
        assert found("a.py", "b.py") == [
            "a.py:1:1: cannot be read: Too many levels of symbolic links",
            "b.py:1:1: no such file or directory",
        ]


def remove_deep(here: Path, depth: int) -> None:
    """Removes `d/d/d…`, which is deeper than a removal by recursion gets."""
    for _ in range(depth):
        os.chdir("d")
    Path("a.py").unlink()
    for _ in range(depth):
        os.chdir("..")
        Path("d").rmdir()
    assert Path.cwd() == here


class TestRead:
    def problem(self, path: str) -> str:
        with pytest.raises(InputError) as caught:
            read_source(Path(path))
        return str(caught.value)

    def test_text_and_path(self):
        Path("a.py").write_bytes(b"x = 1\r\n")
        source = read_source(Path("a.py"))
        assert (source.text, source.path) == ("x = 1\r\n", "a.py")

    def test_what_is_not_there(self):
        assert self.problem("a.py") == "a.py:1:1: no such file or directory"

    def test_a_folder(self):
        Path("a.py").mkdir()
        assert self.problem("a.py") == "a.py:1:1: is a directory"

    @posix
    def test_a_pipe_is_not_waited_for(self):
        os.mkfifo("a.py")
        assert self.problem("a.py") == "a.py:1:1: is not a regular file"
        assert self.problem("/dev/zero") == "/dev/zero:1:1: is not a regular file"

    def test_a_very_large_file_is_not_read(self):
        with Path("a.py").open("wb") as sparse:
            sparse.truncate(files.LARGEST_FILE + 2**20)
        assert self.problem("a.py") == (
            "a.py:1:1: is too large to be a program (11.0 MiB; the limit is 10 MiB)"
        )

    def test_what_may_not_be_read(self, monkeypatch):
        tree("a.py")

        def refuse(path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_bytes", refuse)
        assert self.problem("a.py") == "a.py:1:1: cannot be read: Permission denied"

    def test_what_is_not_text(self):
        Path("a.py").write_bytes(b"\0")
        assert self.problem("a.py") == "a.py:1:1: is a binary file"


class TestReplace:
    def problem(self, path: str = "a.py") -> str:
        """What is told; the file is as it was, and no other is there."""
        before = {each: each.read_bytes() for each in Path().iterdir() if each.is_file()}
        with pytest.raises(InputError) as caught:
            replace_file(Path(path), b"new")
        assert {each: each.read_bytes() for each in Path().iterdir() if each.is_file()} == before
        return str(caught.value)

    def test_content(self):
        tree("a.py")
        replace_file(Path("a.py"), b"y = \xff\r\n")
        assert Path("a.py").read_bytes() == b"y = \xff\r\n"
        assert [path.name for path in Path().iterdir()] == ["a.py"]

    @posix
    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666, 0o4755])
    def test_the_mode_stays(self, mode):
        tree("a.py")
        Path("a.py").chmod(mode)
        replace_file(Path("a.py"), b"")
        assert stat.S_IMODE(Path("a.py").stat().st_mode) == mode

    @posix
    def test_the_owner_stays(self, monkeypatch):
        tree("a.py")
        given = []
        monkeypatch.setattr(os, "chown", lambda path, user, group: given.append((user, group)))
        status = os.stat_result([0o100644, 0, 0, 1, 12345, 678, 0, 0, 0, 0])
        files._take_over_owner_and_mode(Path("a.py"), status)
        assert given == [(12345, 678)]

    @symlinks
    def test_a_link_stays_and_what_it_leads_to_is_replaced(self):
        tree("x/a.py")
        Path("a.py").symlink_to("x/a.py")
        replace_file(Path("a.py"), b"new")
        assert Path("a.py").is_symlink()
        assert Path("x/a.py").read_bytes() == b"new"
        assert [path.name for path in Path("x").iterdir()] == ["a.py"]

    def test_a_read_only_file(self):
        tree("a.py")
        Path("a.py").chmod(0o444)
        assert self.problem() == "a.py:1:1: is read-only"

    @posix
    def test_a_read_only_folder(self):
        tree("x/a.py")
        Path("x").chmod(0o555)
        try:
            assert self.problem("x/a.py") == "x/a.py:1:1: is in a read-only folder"
            assert Path("x/a.py").read_bytes() == b"x = 1\n"
        finally:
            Path("x").chmod(0o755)

    def test_somebody_elses_file(self, monkeypatch):
        tree("a.py")
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "a.py")
        assert self.problem() == "a.py:1:1: is read-only"

    @pytest.mark.parametrize(("owner", "function"), [(os, "fsync"), (Path, "replace")])
    def test_a_full_disk(self, monkeypatch, owner, function):
        tree("a.py")

        def refuse(*arguments):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(owner, function, refuse)
        assert self.problem() == "a.py:1:1: cannot be written: No space left on device"

    def test_an_interruption(self, monkeypatch):
        tree("a.py")

        def interrupt(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            replace_file(Path("a.py"), b"new")
        assert [path.read_bytes() for path in Path().iterdir()] == [b"x = 1\n"]

    def test_what_is_not_there(self):
        assert self.problem() == "a.py:1:1: no such file or directory"


class TestReplaceSeveral:
    def contents(self) -> dict[str, bytes]:
        return {path.as_posix(): path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    def problem(self) -> str:
        """What is told; all files are as they were, and no other is there."""
        before = self.contents()
        with pytest.raises(InputError) as caught:
            replace_files([(Path(name), b"new") for name in ("a.py", "x/b.py", "c.py")])
        assert self.contents() == before
        return str(caught.value)

    def test_all_of_them(self):
        tree("a.py", "x/b.py")
        Path("x/b.py").chmod(0o755)
        replace_files([(Path("a.py"), b"new a"), (Path("x/b.py"), b"new b")])
        assert self.contents() == {"a.py": b"new a", "x/b.py": b"new b"}
        assert os.access("x/b.py", os.X_OK)

    def test_a_read_only_file_among_them(self):
        tree("a.py", "x/b.py", "c.py")
        Path("x/b.py").chmod(0o444)
        assert self.problem() == "x/b.py:1:1: is read-only; none of the 3 files is changed"

    @posix
    def test_a_read_only_folder_among_them(self):
        tree("a.py", "x/b.py", "c.py")
        Path("x").chmod(0o555)
        try:
            told = "x/b.py:1:1: is in a read-only folder; none of the 3 files is changed"
            assert self.problem() == told
        finally:
            Path("x").chmod(0o755)

    def test_one_that_is_gone(self):
        tree("a.py", "x/b.py")
        told = "c.py:1:1: no such file or directory; none of the 3 files is changed"
        assert self.problem() == told

    @pytest.mark.parametrize("renames", [0, 1, 2])
    def test_a_rename_that_fails(self, monkeypatch, renames):
        tree("a.py", "x/b.py", "c.py")
        replace = Path.replace
        made: list[object] = []

        def refuse(path, target):
            if len(made) == renames:
                made.append(target)
                raise OSError(28, "No space left on device")
            made.append(target)
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", refuse)
        name = ("a.py", "x/b.py", "c.py")[renames]
        told = "cannot be written: No space left on device; none of the 3 files is changed"
        assert self.problem() == f"{name}:1:1: {told}"

    def test_an_interruption_between_two_renames(self, monkeypatch):
        tree("a.py", "x/b.py")
        before, replace = self.contents(), Path.replace
        made: list[object] = []

        def interrupt(path, target):
            made.append(target)
            if len(made) == 2:
                raise KeyboardInterrupt
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            replace_files([(Path("a.py"), b"new"), (Path("x/b.py"), b"new")])
        assert self.contents() == before
