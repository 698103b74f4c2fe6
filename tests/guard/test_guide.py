"""The guide's examples run, and say what the guide shows."""

import contextlib
import inspect
import io
import linecache
import re
from pathlib import Path

import pytest

import runtime_guard
from runtime_guard import DeviceMismatchError
from runtime_guard._explaining.explain import notes_of
from tests.guard.meta_gpu import MetaGpu
from tests.guard.test_examples_guarded import on_meta

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "runtime_guard.md"
SHOWN = "examples/broken/cpu_batches.py"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def examples():
    """The guide's code, in order, each with the text that is shown below it."""
    blocks = [(match[1], match[2]) for match in BLOCK.finditer(GUIDE.read_text(encoding="utf-8"))]
    following = [*blocks[1:], ("", "")]
    return [
        (code, text if kind == "text" else "")
        for (language, code), (kind, text) in zip(blocks, following, strict=True)
        if language == "python"
    ]


def said_by(code, name, namespace):
    """What a block prints, and the error it ends in, with its notes."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    program = compile(code, name, "exec")
    if raises := re.search(r"# raises (\w+)", code):
        with pytest.raises(RuntimeError) as raised:
            exec(program, namespace)
        assert type(raised.value).__name__ == raises[1]
        return "\n".join([f"{raises[1]}: {raised.value}", *notes_of(raised.value)])
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(program, namespace)
    return output.getvalue()


def test_the_guide_shows_what_its_examples_say():
    namespace = {"__name__": "train"}
    shown = 0
    for code, text in examples():
        said = said_by(code, "train.py", namespace)
        if text:
            assert said.strip() == text.strip()
            shown += 1
    assert shown == 3


@pytest.mark.filterwarnings("ignore:'pin_memory' argument is set")
def test_the_readme_shows_what_is_said_of_an_example(monkeypatch):
    """`meta` plays the GPU; the readme, which is for those who have one, calls it `cuda:0`."""
    monkeypatch.chdir(ROOT)
    code = on_meta((ROOT / SHOWN).read_text(encoding="utf-8"))
    namespace = {"__name__": "__main__", "__file__": SHOWN}
    linecache.cache[SHOWN] = (len(code), None, code.splitlines(keepends=True), SHOWN)
    with MetaGpu(), runtime_guard.install(meta=True), pytest.raises(DeviceMismatchError) as raised:
        exec(compile(code, SHOWN, "exec"), namespace)
    said = f"DeviceMismatchError: {raised.value}".replace("meta", "cuda:0")
    assert f"```text\n{said}\n```" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["guard", "install"])
def test_the_guide_names_every_option(name):
    options = inspect.signature(getattr(runtime_guard, name)).parameters
    guide = GUIDE.read_text(encoding="utf-8")
    assert [option for option in options if option != "model" and f"`{option}=" not in guide] == []
