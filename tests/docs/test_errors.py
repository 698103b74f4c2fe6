"""The errors of docs/errors.md are torch's, word for word, and the scripts of the page raise them.

The page is a test by itself: it says what devicelint reports, where torch raises, and the fixes.
"""

from __future__ import annotations

import mmap
import multiprocessing
import re
import subprocess
import sys
import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

import devicelint
from devicelint.rule_index import all_facts
from runtime_guard import virtual_gpu
from runtime_guard.messages.texts import text_of
from runtime_guard.virtual.dispatch import rules
from tests.mdtest.execution import execute
from tests.mdtest.expectations import annotated
from tests.mdtest.markdown import Fence, Heading, elements
from tests.mdtest.page import sections

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
SECTIONS = {section.name: section for section in sections(TEXT)}

OLDER = "(when checking argument for argument "
"""What the wrappers of kernels say in torch 2.6; 2.8 says it in another way."""
FORKED = "RuntimeError: Cannot re-initialize CUDA"
ON_A_MAC = "RuntimeError: Placeholder storage"
UNHEARD = (
    "RuntimeError: Expected condition, x and y",  # releases before 2.6
    "RuntimeError: Found no NVIDIA driver",  # a build for CUDA says so, without a driver
    ON_A_MAC,
)
"""The texts that neither this build of torch nor the virtual GPU can say."""
OF_CUDA = "torch.AcceleratorError: CUDA error: invalid device ordinal"
"""The words of CUDA's own library, which a build for the CPU does not have."""
VARIES = re.compile(
    r"\b(?:cuda|cpu):\d|\bcpu\b(?!\()|\b\dD\b|Long tensor|[\w.]+Tensor\b|'\w+'"
    r"|\b(?:weight|hidden|parameter)\b|wrapper_\w+|(?<=but got )\w+(?= is on)"
)
"""What torch puts into its texts."""


def quoted():
    """Each text of the page, below its heading."""
    heading = ""
    for element in elements(TEXT):
        if isinstance(element, Heading):
            heading = element.title
        elif isinstance(element, Fence) and element.language == "pytb":
            yield from ((heading, text) for text in element.content.rstrip("\n").split("\n\n"))


QUOTED = list(quoted())
HEARD = [(heading, text) for heading, text in QUOTED if not text.startswith(UNHEARD)]
each_error = pytest.mark.parametrize(
    ("heading", "text"), [one for one in HEARD if OLDER not in one[1]]
)
each_older_error = pytest.mark.parametrize(
    ("heading", "text"), [one for one in HEARD if OLDER in one[1]]
)


def spoken(error):
    """The last lines of the traceback that Python prints."""
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}: {error}".rstrip("\n")


def code_of(example):
    return annotated(example.code.content)


@cache
def raised_in(heading, release=torch.__version__):
    """The texts that a section's scripts raise, each with whether the virtual GPU said it."""
    assert release == torch.__version__
    said = {}
    for example in SECTIONS[heading].examples:
        if example.run is not None:
            before = "\n".join(fence.content for fence in example.before)
            run = replace(example.run, before=before)
            code = code_of(example)
            for error in execute(code.code, example.path, run, code.expectations).raised.values():
                last = traceback.extract_tb(error.__traceback__)[-1]
                own = "runtime_guard" in Path(last.filename).parts
                said[spoken(error)] = own and (last.line or "").startswith("raise")
    return said


@pytest.fixture
def torch_2_6(monkeypatch):
    """The device rules of torch 2.6, and its words."""
    monkeypatch.setattr(torch, "__version__", "2.6.0")
    rules.table.cache_clear()
    yield torch.__version__
    rules.table.cache_clear()


@each_error
def test_a_text_is_what_torch_says(heading, text, tmp_path):
    if text.startswith(FORKED):
        assert text in printed_by_the_program(heading, tmp_path)
    else:
        assert text in raised_in(heading)


def printed_by_the_program(heading, folder):
    """The lines of the traceback of a section's first script, run in processes of its own."""
    if multiprocessing.get_all_start_methods()[0] != "fork":
        pytest.skip("this Python forks no workers")
    code = code_of(SECTIONS[heading].examples[0]).code
    (folder / "train.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "runtime_guard", "--virtual-gpu", "1", "train.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)
    return done.stderr.splitlines()


@each_older_error
def test_an_older_text_is_what_torch_2_6_says(heading, text, torch_2_6):
    assert text in raised_in(heading, torch_2_6)


@pytest.mark.parametrize("text", [text for _, text in QUOTED if text.startswith(UNHEARD)])
def test_the_guard_knows_a_text_that_is_not_heard_here(text):
    assert text_of(RuntimeError(text.partition(": ")[2]))


@pytest.fixture(scope="module")
def libraries():
    """The compiled part of the torch that is installed."""
    folder = Path(torch.__file__).parent / "lib"
    found = []
    for name in ("libc10.so", "libtorch_python.so", "libtorch_cpu.so"):
        with (folder / name).open("rb") as file:
            found.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    yield found
    for each in found:
        each.close()


@each_error
def test_a_text_of_the_virtual_gpu_is_in_torch(heading, text, libraries):
    if text.startswith((FORKED, OF_CUDA)) or not raised_in(heading)[text]:
        return
    parts = VARIES.split(text.partition(": ")[2])
    words = [part for part in parts if len(part) > 8]
    assert words
    assert [part for part in words if not is_in(libraries, part)] == []


def is_in(libraries, part):
    """Whether torch has these words, in one string or in two that it prints one after the other."""
    two = [(part[: space.end()], part[space.end() :]) for space in re.finditer(" ", part)]
    return any(
        all(any(one.find(piece.encode()) >= 0 for one in libraries) for piece in pieces)
        for pieces in ((part,), *two)
    )


def test_the_script_for_a_mac_fails_on_a_virtual_one():
    (heading,) = (heading for heading, text in QUOTED if text.startswith(ON_A_MAC))
    code = code_of(SECTIONS[heading].examples[0]).code
    with virtual_gpu(name="mps"), pytest.raises(RuntimeError, match=r"same device.* on mps:0"):
        exec(compile(code, "train.py", "exec"), {"__name__": "__main__"})


def test_a_script_for_a_mac_alone_is_not_checked():
    """The page says so; once this fails, it is to say something else."""
    script = """\
import torch
from torch import nn

device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")
embedding = nn.Embedding(100, 16).to(device)
embedding(torch.randint(100, (4, 8)))
"""
    with virtual_gpu(name="mps"), pytest.raises(RuntimeError, match="same device"):
        exec(compile(script, "train.py", "exec"), {"__name__": "__main__"})
    assert devicelint.check(script, "train.py").findings == ()


def test_a_device_that_is_typed_is_not_checked():
    """The page says so; once this fails, it is to say something else."""
    script = """\
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="gpu")
device = torch.device(parser.parse_args([]).device)
"""
    with pytest.raises(RuntimeError, match="device string: gpu"):
        exec(compile(script, "train.py", "exec"), {"__name__": "__main__"})
    assert devicelint.check(script, "train.py").findings == ()


def test_a_process_that_is_forked_is_not_checked():
    """The page says so; once this fails, it is to say something else."""
    script = """\
import multiprocessing

import torch


def work():
    if torch.cuda.is_available():
        torch.ones(2).to("cuda")


if torch.cuda.is_available():
    torch.ones(2).to("cuda")
multiprocessing.Process(target=work).start()
"""
    assert devicelint.check(script, "train.py").findings == ()


def anchor(heading):
    return re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-")


def rows():
    """The entries of the table at the top: their words, their anchors, and their rules."""
    entry = re.compile(r"^\| \[(.+)\]\(#(.+?)\) \| .+ \| (.+) \|$", re.MULTILINE)
    return entry.findall(TEXT)


def test_the_table_has_every_section_in_order():
    headings = list(dict.fromkeys(heading for heading, _ in QUOTED))
    assert len(headings) >= 20
    assert [(text, target) for text, target, _ in rows()] == [
        (heading, anchor(heading)) for heading in headings
    ]


def test_a_heading_is_part_of_its_text():
    for heading, text in QUOTED:
        own = [one for where, one in QUOTED if where == heading]
        assert any(all(part in each for part in heading.split(": ")) for each in own), text


def test_the_table_names_the_rules_of_each_section():
    codes = {f"rules/{fact.name.replace('-', '_')}.md": fact.code for fact in all_facts()}
    bodies = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", TEXT, re.MULTILINE))
    for heading, _, cell in rows():
        named = dict(re.findall(r"\[(DEV\d+)\]\((.+?)\)", cell))
        assert all(codes[page] == code for code, page in named.items())
        found = {
            one.rule
            for example in SECTIONS[heading].examples
            for one in code_of(example).expectations
        }
        own = {fact.code for fact in all_facts() if fact.name in found}
        assert own <= named.keys() or "devicelint does not find this one" in bodies[heading]
        assert all(f"]({page})" in bodies[heading] for page in named.values())
