"""The recorder: instrumented code does what it did, and what it gives is noted, in any process."""

import ast
import builtins
import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from benchmarks.agreement.__main__ import main
from benchmarks.agreement.recording.environment import recording
from benchmarks.agreement.recording.instrumenting import (
    ENTER,
    ENTER_FORWARD,
    FRAME,
    NOTE,
    instrumented,
)
from benchmarks.agreement.recording.places import Places, Span
from benchmarks.agreement.records import Seen, read_record
from benchmarks.corpora.subjects import Subject, Suite

ROOT = Path(__file__).parents[2]

TRICKY = {
    "short circuits": """
        def left(): print("left"); return False
        def right(): print("right"); return True
        print(left() and right(), left() or right(), not left(), 1 if left() else 2)
        print(1 < len("ab") < 2 < left())
    """,
    "comprehensions and walruses": """
        def f(rows):
            found = [last := item for row in rows if (size := len(row)) for item in row]
            return found, last, size, {key: value for key, value in zip("ab", rows)}, set(rows)
        print(f(["ab", "c"]), sorted(x * y for x in range(3) for y in range(x)))
        class Held:
            width = 2
            sizes = [width for _ in range(2)] if False else [n for n in range(width)]
        print(Held.sizes)
    """,
    "scopes": """
        counter = 0
        def outer(step, *rest, scale=counter + 1, **more):
            "its docstring"
            total = step
            def inner():
                nonlocal total
                global counter
                total += scale
                counter = counter + total
                return lambda extra=total, *given: (extra, given, step, rest, more)
            return inner()
        print(outer(1)(2, 3), outer(1, 2, scale=5, other=6)(), counter, outer.__doc__)
        print(outer.__code__.co_varnames[: outer.__code__.co_argcount], outer.__kwdefaults__)
    """,
    "local names": """
        def asks(first, second=2):
            third = first + second
            return sorted(locals()), dir() == sorted(locals()), eval("third")
        print(asks(1))
        import sys
        def sees(first):
            return sorted(sys._getframe().f_locals)
        print(sees(1), sorted(name for name in globals() if "device" in name))
    """,
    "classes": """
        class Base:
            __slots__ = ("held", "__private")
            def __init__(self, held): self.held = self.__private = held
            @property
            def twice(self): return self.held * 2
            @twice.setter
            def twice(self, value): self.held = value // 2
            @classmethod
            def made(cls, *args): return cls(*args)
            @staticmethod
            def plain(x): return x
        class Derived(Base):
            __slots__ = ()
            def __init__(self, held):
                super().__init__(held)
                self.held += __class__.plain(1)
            def __getattr__(self, name): return name.upper()
        one = Derived.made(3)
        one.twice = 10
        one.held -= 1
        print(one.held, one.twice, one.missing, one._Base__private, hasattr(one, "__dict__"))
        del one.held
        print(one.held)
    """,
    "generators": """
        def counting(limit):
            got = None
            while limit:
                got = yield limit, got
                limit -= 1
            return "over"
        def all_of(limit):
            end = yield from counting(limit)
            yield end
        steps = all_of(2)
        print(next(steps), steps.send("x"), list(steps), list(counting(2)))
    """,
    "coroutines": """
        import asyncio, contextlib
        @contextlib.asynccontextmanager
        async def opened(x):
            yield x
        async def ticks():
            for x in range(2):
                await asyncio.sleep(0)
                yield x
        async def run():
            async with opened(3) as value:
                return value + sum([x async for x in ticks()])
        print(asyncio.run(run()))
    """,
    "patterns": """
        import enum
        class Kind(enum.Enum):
            ONE = enum.auto()
            TWO = enum.auto()
        def told(x):
            match x:
                case Kind.ONE: return "one"
                case {"a": first, **rest} if first > 1: return first, rest
                case [first, *rest] | (first, *rest): return first, rest
                case str() as text: return text
                case _: return None
        print([told(x) for x in (Kind.ONE, {"a": 2, "b": 3}, [1, 2], "t", 5)], list(Kind))
    """,
    "statements": """
        from dataclasses import dataclass, field
        from typing import NamedTuple
        @dataclass(order=True)
        class Row:
            x: int
            y: "list[int]" = field(default_factory=list)
        class Pair(NamedTuple):
            a: int = 1 + 1
            b: str = f"{1 + 2:>{3}}!"
        rows = [Row(2), Row(1, [3])]
        rows[0].y: list = [4]
        rows[-1].y[0] += 5
        (first, *others), last = rows, rows.pop()
        table = {}
        table["a"], table["b"] = 1, (yes := 2)
        del table["a"], others[:]
        assert rows and not others, "never"
        with open(__import__("os").devnull) as one, open(one.name) as two:
            print(first, last, table, yes, Pair(), two.name == one.name, Row.__annotations__)
        try:
            raise ValueError(first) from KeyError(last)
        except* ValueError as group:
            print(repr(group.exceptions[0].__cause__))
        else:
            print("no")
        finally:
            print(f"{first!r:>12} {table['b'] + 1}")
        print(*[1, 2], *(3,), sep="-", **{"end": "!\\n"})
    """,
    "wide characters": """
        größe = "ä" + "ö" ; print(größe.upper(), [größe, 'ü'][1])
    """,
    "errors": """
        def first(x):
            return (second(x)
                    + 1)
        def second(é): return é["ä"] + é . missing(1, 2)
        first({"ä": 1})
    """,
}
if sys.version_info < (3, 11):
    TRICKY["statements"] = (
        TRICKY["statements"].replace("except*", "except").replace("group.exceptions[0]", "group")
    )


def dedented(text):
    import textwrap

    return textwrap.dedent(text).strip() + "\n"


def run(code):
    """What a program prints, and its traceback, with the columns of each frame."""
    names = {"__name__": "tricky"}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            exec(code, names)
        except Exception as error:  # noqa: BLE001 - programs may end as they like
            frames = traceback.extract_tb(error.__traceback__)[1:]
            places = [
                (one.name, one.lineno, getattr(one, "colno", 0), getattr(one, "end_colno", 0))
                for one in frames
            ]
            said.write(f"{type(error)} {error} {places}")
    return said.getvalue()


@pytest.fixture
def noted(monkeypatch):
    """What is noted of instrumented code that runs in this process."""
    values = []

    def note(place, value, frame):
        values.append((place, value, frame))
        return value

    monkeypatch.setattr(builtins, NOTE, note, raising=False)
    monkeypatch.setattr(builtins, ENTER, lambda number: f"call of {number}", raising=False)
    monkeypatch.setattr(builtins, ENTER_FORWARD, lambda number, module: module, raising=False)
    return values


@pytest.mark.parametrize("name", TRICKY)
def test_instrumented_code_does_what_it_did(name, noted):
    source = dedented(TRICKY[name])
    plain = run(compile(source, "tricky.py", "exec", dont_inherit=True))
    tree = instrumented(source.encode(), "tricky.py", Places())
    assert run(compile(tree, "tricky.py", "exec", dont_inherit=True)) == plain
    assert noted


class Stripping(ast.NodeTransformer):
    """Takes the notes out again."""

    def visit_Call(self, node):
        self.generic_visit(node)
        is_note = isinstance(node.func, ast.Name) and node.func.id == NOTE
        return node.args[1] if is_note else node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.body = [one for one in node.body if not self._enters(one)]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    @staticmethod
    def _enters(statement):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        return isinstance(target, ast.Name) and target.id == FRAME


@pytest.mark.parametrize(
    "path",
    [
        *sorted((ROOT / "devicelint" / "interpreter").rglob("*.py"))[::12],
        *sorted(Path(contextlib.__file__).parent.glob("[a-d]*.py"))[::4],
    ],
    ids=lambda path: path.name,
)
def test_notes_are_all_that_is_added(path):
    source = path.read_bytes()
    tree = instrumented(source, str(path), Places())
    compile(tree, str(path), "exec", dont_inherit=True)
    plain = ast.parse(source)
    assert ast.dump(Stripping().visit(tree), include_attributes=True) == ast.dump(
        plain, include_attributes=True
    )


def test_expressions_are_noted_at_their_places(noted):
    source = "def f(é):\n    'ä'; return é.real + (\n        é)\nf(1)\n"
    places = Places()
    exec(compile(instrumented(source.encode(), "f.py", places), "f.py", "exec"), {})
    found = {(places.kinds[number], places.spans[number]): value for number, value, _ in noted}
    assert found["Attribute", Span(2, 16, 2, 22)] == 1
    assert found["Name", Span(3, 8, 3, 9)] == 1
    assert found["BinOp", Span(2, 16, 3, 10)] == 2
    assert found["Call", Span(4, 0, 4, 4)] == 2
    frames = {frame for number, _, frame in noted if places.spans[number].line in (2, 3)}
    assert frames == {"call of 0"}
    assert {frame for number, _, frame in noted if places.spans[number].line == 4} == {None}


SCRIPT = """
import multiprocessing, subprocess, sys
import torch
from package import net

def in_child(x):
    return net.double(torch.ones(x))

if __name__ == "__main__":
    model = net.Net().to("cuda")
    out = model(torch.ones(2, 3, device="cuda"))
    net.both(out, torch.ones(()))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply(in_child, (4,))
        pool.close()
        pool.join()
    subprocess.run([sys.executable, "-c", "import torch; from package import net;"
                    " net.double(torch.ones(5))"], check=True)
    print(out.device, sys.argv[1:], __file__)
"""

PACKAGE = """
import torch
from torch import nn

def double(x):
    return x * 2

def both(one, other):
    return one + other

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("mean", torch.zeros(3))
        self.parts = [nn.Linear(1, 1)]
        self.kept = torch.ones(1)

    def forward(self, x):
        return self.layer(x) - self.mean
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "net.py").write_text(PACKAGE)
    return tmp_path


def launched(project, *words, **variables):
    """Run Python in a project, on a virtual GPU, with the recorder; give what was recorded."""
    boot = ROOT / "runtime_guard" / "launcher" / "boot"
    own = {"PYTHONPATH": f"{boot}{os.pathsep}{project}", "RUNTIME_GUARD_VIRTUAL_GPU": "1"}
    sources = [project / "package", project / "script.py"]
    into = project / "record"
    environment = recording({**os.environ, **own, "OMP_NUM_THREADS": "1"}, sources, into)
    done = subprocess.run(
        [sys.executable, *words],
        cwd=project,
        env=environment | variables,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return read_record(into, project), done.stdout


def seen(file, text, line, part):
    """What was recorded of a part of a line."""
    column = text.splitlines()[line - 1].index(part)
    return dict(file.places[Span(line, column, line, column + len(part))])


@pytest.mark.filterwarnings("ignore")
def test_a_script_is_recorded_with_its_modules_and_children(project):
    (project / "script.py").write_text(SCRIPT)
    record, said = launched(project, "script.py", "word")
    assert said.split() == ["cuda:0", "['word']", str(project / "script.py")]
    script, net = record.files["script.py"], record.files["package/net.py"]
    assert seen(script, SCRIPT, 10, 'net.Net().to("cuda")') == {Seen("cuda:0", "module", False): 1}
    assert seen(net, PACKAGE, 20, "self.layer(x)") == {Seen("cuda:0", "tensor", False): 1}
    assert seen(net, PACKAGE, 20, "self.mean") == {Seen("cuda:0", "tensor", False): 1}
    # Once in a process that was forked off, once in a new one.
    assert seen(net, PACKAGE, 6, "x") == {Seen("cpu", "tensor", False): 2}
    assert seen(net, PACKAGE, 9, "other") == {Seen("cpu", "tensor", True): 1}
    assert net.functions[(8, "both")].calls == 1
    ((call, times),) = net.functions[(8, "both")].mixed.items()
    assert times == 1
    assert {next(iter(devices)) for _, devices in call} == {"cpu", "cuda:0"}
    assert net.owned == {
        "Net": {
            "layer": {"module"},
            "mean": {"buffer"},
            "parts": {"list of modules"},
            "kept": {"plain tensor"},
        }
    }
    assert not list((project / "package").rglob("*.pyc")), "what is noted leaves no bytecode"


TEST = """
import torch
from package import net

def test_it():
    layer = net.Net().cuda()
    assert layer(torch.ones(1, 3).cuda()).is_cuda
    assert "__device_frame__" not in vars(net)

def test_planted():
    assert net.planted("cuda").is_cuda

def test_what_fails():
    net.both(torch.ones(1).cuda(), torch.ones(1))
"""

PLANTED = """
def planted(x):
    made = torch.ones(2)
    move(made, x)
    return made

def move(tensor, device):
    tensor.data = tensor.to(device)
"""


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A command line for a subject of the learning half: its checkout, and where things go."""
    checkout = tmp_path / "checkouts" / "owner+small"
    (checkout / "package").mkdir(parents=True)
    checkout.with_name("owner+small.commit").write_text("a" * 40)
    (checkout / "package" / "__init__.py").touch()
    (checkout / "package" / "net.py").write_text(PACKAGE + PLANTED)
    (checkout / "test_it.py").write_text(TEST)
    small = Subject("owner/small", "a" * 40, ("package",), tests=Suite(("test_it.py",)))
    monkeypatch.setattr("benchmarks.agreement.__main__.subjects", lambda: (small,))
    folders = {"scratch": "scratch", "out": "out", "json": "figures.json"}
    options = [word for name, to in folders.items() for word in (f"--{name}", str(tmp_path / to))]
    return [str(checkout.parent), "--environment", sys.prefix, *options]


@pytest.mark.filterwarnings("ignore")
def test_a_subject_is_recorded_and_compared(words, tmp_path, monkeypatch, capsys):
    assert main(words) == 0
    said = capsys.readouterr()
    assert "owner/small: 2 tests, 0 scripts" in said.err
    contradictions = (tmp_path / "out" / "contradictions.txt").read_text()
    line = next(one for one in contradictions.splitlines() if one.startswith("owner/small"))
    assert line.startswith("owner/small: package/net.py:25:11: tensor on cpu")
    assert line.endswith("seen: tensor on cuda:0, 1 times")
    (figures,) = json.loads((tmp_path / "figures.json").read_text())["halves"]
    assert (figures["name"], figures["tests"], figures["packages"]) == ("learn", 2, 1)
    assert figures["owned"]["right"]["module"] == 1
    # What was recorded is there, and is compared without being run again.
    monkeypatch.setattr("benchmarks.agreement.running.run_tests", None)
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == said.out.splitlines()[-1]
    # Of what measures, there are figures alone.
    monkeypatch.setattr("benchmarks.corpora.subjects.half_of", lambda _: "measure")
    assert main(words) == 0
    assert "owner/small" not in capsys.readouterr().out
    assert "net.py" not in (tmp_path / "out" / "contradictions.txt").read_text()
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["subjects"] == []
    assert figures["halves"][0]["contradictions"]["device: a tensor on another one"] >= 1


def test_what_is_cut_off_is_counted_and_left_out(tmp_path):
    whole = [
        {"file": 0, "path": str(tmp_path / "a.py"), "expressions": 3},
        {"place": [0, 1, 0, 1, 5], "kind": "Name", "seen": [["cpu", "tensor", False, 2]]},
    ]
    lines = [json.dumps(line) for line in whole]
    (tmp_path / "1.jsonl").write_text("\n".join([*lines, lines[1][:20]]))
    record = read_record(tmp_path, tmp_path)
    assert record.unfinished == 1
    assert record.files["a.py"].places[Span(1, 0, 1, 5)] == {Seen("cpu", "tensor", False): 2}
