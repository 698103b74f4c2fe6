"""The guide's examples run, and say what the guide shows."""

import contextlib
import inspect
import io
import linecache
import re
from pathlib import Path

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard import DeviceMismatchError
from runtime_guard.launcher import cli
from runtime_guard.messages.explain import notes_of
from runtime_guard.profiler.report import command
from runtime_guard.settings import Environment, Settings, to_environment
from tests.guard.notes import note_of

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "runtime_guard.md"
SHOWN = "examples/broken/cpu_batches.py"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks_of(guide):
    """A guide's code, in order, each with the text that is shown below it."""
    blocks = [(match[1], match[2]) for match in BLOCK.finditer(guide.read_text(encoding="utf-8"))]
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


def assert_shows_what_is_said(guide):
    """Run a guide's examples, three of which are shown with what they say."""
    namespace = {"__name__": "train"}
    shown = 0
    for code, text in blocks_of(guide):
        said = said_by(code, "train.py", namespace)
        if text:
            assert said.strip() == text.strip()
            shown += 1
    assert shown == 3


def test_the_guide_shows_what_its_examples_say():
    assert_shows_what_is_said(GUIDE)


@pytest.mark.filterwarnings("ignore:'pin_memory' argument is set")
def test_the_readme_shows_what_is_said_of_an_example(monkeypatch):
    monkeypatch.chdir(ROOT)
    code = (ROOT / SHOWN).read_text(encoding="utf-8")
    namespace = {"__name__": "__main__", "__file__": SHOWN}
    linecache.cache[SHOWN] = (len(code), None, code.splitlines(keepends=True), SHOWN)
    with (
        runtime_guard.virtual_gpu(),
        runtime_guard.install(),
        pytest.raises(DeviceMismatchError) as raised,
    ):
        exec(compile(code, SHOWN, "exec"), namespace)
    said = f"DeviceMismatchError: {raised.value}"
    assert f"```text\n{said}\n```" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["guard", "install"])
def test_the_guide_names_every_option(name):
    options = inspect.signature(getattr(runtime_guard, name)).parameters
    guide = GUIDE.read_text(encoding="utf-8")
    assert [option for option in options if option != "model" and f"`{option}=" not in guide] == []


def test_the_guide_tells_which_option_install_lacks():
    missing = set(options_of("guard")) - set(options_of("install"))
    assert missing == {"model", "optimizer"}
    assert "takes the same arguments as `guard`, except `optimizer`" in " ".join(
        GUIDE.read_text(encoding="utf-8").split()
    )


def options_of(name):
    return inspect.signature(getattr(runtime_guard, name)).parameters


@pytest.mark.parametrize("parser", [cli._parser(), command._parser()], ids=["run", "report"])
def test_the_guide_names_every_option_of_the_command_line(parser):
    named = re.compile(r"^\| `.*|`--\w[\w-]*", re.MULTILINE).findall(
        GUIDE.read_text(encoding="utf-8")
    )
    options = [option for option in parser._option_string_actions if option.startswith("--")]
    unnamed = [option for option in options if not any(option in line for line in named)]
    assert [option for option in unnamed if option not in ("--help", "--version")] == []


def test_the_guide_names_every_variable():
    asked = Settings(steps=1, every=2, only=("a",), skip=("b",), meta=True)
    guide = GUIDE.read_text(encoding="utf-8")
    for variable in to_environment(Environment("check", asked, "run.jsonl")):
        assert variable in guide or f"`{variable.removeprefix('RUNTIME_GUARD')}" in guide


class Indifferent(nn.Module):
    """Takes an input from any device."""

    def __init__(self, device):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, device=device))

    def forward(self, value):
        return value


def guarded(name, model):
    if name == "guard":
        return runtime_guard.guard(model, action="warn", meta=True)
    return runtime_guard.install(action="warn", meta=True)


@pytest.mark.filterwarnings("ignore::runtime_guard.DeviceMismatchWarning")
@pytest.mark.filterwarnings("ignore::runtime_guard.PlacementWarning")
@pytest.mark.parametrize("name", ["guard", "install"])
def test_modules_inside_a_compiled_region_are_checked(name):
    model = nn.Sequential(Indifferent("cpu"), nn.Sequential(Indifferent("meta")))
    with guarded(name, model) as handle:
        torch.compile(model, backend="eager")(torch.ones(2))
    assert [mismatch.module.removeprefix("_orig_mod.") for mismatch in handle.mismatches] == ["1.0"]


@pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", ["guard", "install"])
def test_a_scripted_module_is_not_checked_and_its_error_is_explained(name):
    model = nn.Sequential(torch.jit.script(nn.Linear(3, 3).to("meta")))
    handle = guarded(name, model)
    with pytest.raises(RuntimeError) as raised, handle:
        model(torch.ones(2, 3))
    assert handle.mismatches == []
    assert note_of(raised.value)
