"""What the engine promises to the front ends that call it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import devicelint
from devicelint.config import Config
from devicelint.finding import Certainty, Severity
from devicelint.linter import lint
from devicelint.rules.created_on_cpu import CreatedOnCpu
from devicelint.text.source import SourceFile
from devicelint.views import show

SCRIPT = textwrap.dedent(
    """\
    import torch
    from torch import nn

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Linear(8, 2).to(device)
    batch = torch.randn(4, 8)
    for _ in range(3):
        output = model(batch)
    """
)


def source(text: str) -> SourceFile:
    return SourceFile.from_text(text, "train.py")


def test_a_finding_says_what_where_and_on_which_machine() -> None:
    (finding,) = devicelint.check(SCRIPT, "train.py").findings
    assert finding.code == "DEV103"
    assert finding.severity is Severity.ERROR
    assert finding.certainty is Certainty.CERTAIN
    assert finding.machine == "with an accelerator"
    assert SCRIPT[finding.span.start : finding.span.end] == "torch.randn(4, 8)"
    assert finding.related


def test_a_mistake_that_repeats_is_one_finding() -> None:
    twice = SCRIPT + "    again = model(batch)\n"
    assert len(devicelint.check(twice).findings) == 1


def test_findings_come_in_the_order_of_the_text() -> None:
    text = SCRIPT + "output.numpy()\ntorch.device('gpu')\n"
    spans = [finding.span for finding in devicelint.check(text).findings]
    assert spans == sorted(spans)
    assert len(spans) == 3


def test_what_is_fixed_checks_clean() -> None:
    fixed = devicelint.fix(SCRIPT)
    assert "torch.randn(4, 8, device=device)" in fixed.after.text
    assert fixed.remaining == ()
    assert devicelint.check(fixed.after.text).findings == ()
    assert devicelint.fix(fixed.after.text).after.text == fixed.after.text


def test_settings_choose_the_rules() -> None:
    assert lint.check(source(SCRIPT), Config(ignore=("DEV103",))).findings == ()
    assert lint.check(source(SCRIPT), Config(select=("DEV2",))).findings == ()


def codes(config: Config) -> list[str]:
    return [finding.code for finding in lint.check(source(SCRIPT), config).findings]


def test_a_rule_that_is_off_waits_to_be_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CreatedOnCpu, "default", False)
    assert lint.check(source(SCRIPT)).findings == ()
    assert codes(Config(extend_select=("DEV103",))) == ["DEV103"]
    assert codes(Config(select=("DEV1",))) == ["DEV103"]
    assert codes(Config(extend_select=("DEV1",), ignore=("DEV103",))) == []


def test_a_rule_that_a_release_made_moot_follows_the_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CreatedOnCpu, "until", (2, 10))
    assert codes(Config(torch_version=(2, 9))) == ["DEV103"]
    assert codes(Config(torch_version=(2, 10))) == []
    assert codes(Config()) == []


@pytest.mark.parametrize(
    ("torch", "expected"), [(None, True), ((2, 3), True), ((2, 10), True), ((1, 13), False)]
)
def test_a_fix_writes_what_the_release_has(torch: tuple[int, int] | None, expected: bool) -> None:
    assert CreatedOnCpu.for_torch(torch).may_use((2, 3)) is expected


def test_a_comment_keeps_a_finding_back() -> None:
    told = SCRIPT.replace("randn(4, 8)", "randn(4, 8)  # devicelint: ignore[DEV103] measured")
    assert devicelint.check(told).findings == ()


def test_a_file_without_torch_is_not_even_parsed() -> None:
    assert not lint.screen(b"import numpy as np\n")
    assert devicelint.check("this is no Python\n").findings == ()


@pytest.mark.parametrize(
    "line",
    [
        "import torch as th",
        "import torchaudio",
        "from pytorch_lightning import seed_everything",
        "from transformers import AutoModel",
    ],
)
def test_a_file_that_never_names_torch_may_be_about_tensors(line: str) -> None:
    assert lint.screen(f"{line}\n".encode())


def test_libraries_that_give_tensors_are_among_those_that_are_looked_for() -> None:
    folder = Path(devicelint.__file__).parent / "knowledge/stubs/frameworks"
    of_the_host = (
        "alive_progress assumed fastprogress gdown gym gymnasium huggingface_hub itertools "
        "progressbar rich wget"
    )
    known = {one.stem for one in folder.rglob("*.pyi")} - {"tiktoken", "tqdm", "wandb"}
    looked_for = {name for name in known if lint.screen(f"import {name}\n".encode())}
    assert known - looked_for == set(of_the_host.split())


def test_a_syntax_error_has_a_place() -> None:
    with pytest.raises(devicelint.CheckError, match=r"^train.py:2:"):
        devicelint.check("import torch\nx = (\n", "train.py")


def test_a_trace_tells_where_each_value_is() -> None:
    notes = dict(show.trace(source(SCRIPT)).lines)
    assert notes[4] == ("device: cuda",)
    assert notes[5] == ("model: cuda", "nn.Linear(8, 2): cpu -> cuda")
    assert notes[6] == ("batch: cpu",)


def test_a_program_that_never_ends_is_given_up_and_what_was_found_stays() -> None:
    calls = "\n".join(f"    f{n + 1}(); f{n + 1}()" for n in range(1))
    functions = "\n".join(
        f"def f{n}():\n    for i in a{n}:\n        f{n + 1}(); f{n + 1}(); f{n + 1}()"
        for n in range(11)
    )
    text = f"{SCRIPT}\ndef f11():\n    pass\n{functions}\ndef g():\n{calls}\n"
    assert [finding.code for finding in devicelint.check(text).findings] == ["DEV103"]


def test_the_settings_of_a_script_are_worlds_of_their_own() -> None:
    text = textwrap.dedent(
        """\
        import argparse, torch
        args = argparse.ArgumentParser().parse_args()
        model = torch.nn.Linear(8, 2)
        if args.cuda:
            model.cuda()
        batch = torch.randn(4, 8)
        model(batch)
        """
    )
    (finding,) = devicelint.check(text).findings
    assert finding.machine == "with an accelerator, where `args.cuda`"


ONE_SIDE = """\
import torch
model = torch.nn.Linear(8, 2).cuda()
batch = torch.ones(4, 8)
if model.bias.sum() > 0:
    batch = batch.{there}
{otherwise}
model(batch)
"""


@pytest.mark.parametrize(
    ("there", "otherwise", "where"),
    [
        ("cuda()", "", ", where not `model.bias.sum() > 0`"),
        ("sqrt()", "else:\n    batch = batch.cuda()", ", where `model.bias.sum() > 0`"),
        ("sqrt()", "", ""),
        ("sqrt()", "else:\n    batch = batch.exp()", ""),
    ],
)
def test_what_fails_on_one_side_of_a_condition_says_so(
    there: str, otherwise: str, where: str
) -> None:
    text = ONE_SIDE.format(there=there, otherwise=otherwise)
    machines = {one.machine for one in devicelint.check(text).findings if one.code == "DEV103"}
    assert machines == {f"with an accelerator{where}"}


def test_what_comes_after_a_condition_does_not_say_what_leads_there() -> None:
    text = ONE_SIDE.format(there="cuda()", otherwise="else:\n    raise ValueError")
    text += "if batch.sum() > 0:\n    model(torch.ones(4, 8))\n"
    machines = {one.machine for one in devicelint.check(text).findings if one.code == "DEV103"}
    assert machines == {"with an accelerator"}


def test_explain_gives_the_page_of_a_rule() -> None:
    assert devicelint.explain("discarded-move") == devicelint.explain("DEV104")
    with pytest.raises(KeyError):
        devicelint.explain("DEV999")


def test_reveal_device_is_the_value_itself_when_the_program_runs() -> None:
    assert devicelint.reveal_device(3) == 3


def test_the_public_names_are_there() -> None:
    for name in devicelint.__all__:
        assert getattr(devicelint, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = devicelint.nothing


def test_an_old_public_name_still_works_and_warns() -> None:
    with pytest.warns(DeprecationWarning, match=r"devicelint\.Checked is now .*CheckResult"):
        assert devicelint.Checked is devicelint.CheckResult


def test_torch_is_torch_where_a_star_import_brings_it() -> None:
    text = "from layers import *\nx = torch.zeros(2)\nx.cuda()\nprint(x)\n"
    assert "DEV104" in {finding.code for finding in devicelint.check(text).findings}
