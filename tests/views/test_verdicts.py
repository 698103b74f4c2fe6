"""`devicelint why --verdict FILE:LINE`: the clashes of a line, and why each is reported or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks.golden.subjects import examples, pages
from devicelint.cli import main
from devicelint.interpreter.torch.operations import excuses as grounds
from devicelint.interpreter.torch.operations import verdicts
from devicelint.linter import lint
from devicelint.linter.led_to import led_to
from devicelint.views import show
from devicelint.views import verdicts as views

EXCUSED = {
    "discarded-move": """
        import torch
        from torch import nn

        model = nn.Linear(3, 2).cuda()
        x = torch.zeros(4, 3)
        x.cuda()
        y = model(x)  # here
        """,
    "no-tensor": """
        import torch

        def scaled(x):
            return x * torch.ones(3)  # here
        """,
    "undeclared": """
        import torch

        def read(x, y):
            return torch.add(x, y).numpy()  # here
        """,
    "sent-on": """
        import torch
        from torch.distributed import rpc

        def double(x):
            return 2 * x

        def send(x: torch.Tensor):
            rpc.init_rpc("here")
            return rpc.rpc_sync("worker", double, args=(x.unsqueeze(0),))  # here
        """,
    "prepared": """
        import torch

        x = torch.zeros(3, device="cuda")
        try:
            y = x.numpy()  # here
        except TypeError:
            y = x.cpu().numpy()
        """,
    "raises": """
        import pytest
        import torch

        def test_places():
            with pytest.raises(RuntimeError):
                torch.rand(3, device="cuda") + torch.rand(3)  # here
        """,
    "no-accelerator": """
        import torch
        from torch import nn

        class Normalized(nn.Module):
            def forward(self, x):
                if torch.cuda.is_available():
                    kind = torch.cuda.FloatTensor
                else:
                    kind = torch.FloatTensor
                    print(x.cpu())
                return x - torch.zeros(x.size()).type(kind)  # here
        """,
    "own-device": """
        import torch
        from ignite.metrics import Metric
        from project import prepare

        class Spread(Metric):
            def reset(self):
                self.rows = torch.zeros(3, device=self._device)

            def update(self, outputs):
                for one in prepare(outputs):
                    self._add(one)

            def _add(self, x: torch.Tensor):
                self.rows += x.unsqueeze(0)  # here
        """,
    "test": """
        import torch

        def test_blend(x: torch.Tensor):
            return x.unsqueeze(0) + torch.rand(4)  # here
        """,
    "worker": """
        import torch
        from torch.utils.data import DataLoader

        def loader():
            return DataLoader(range(10), collate_fn=gathered)

        def gathered(x: torch.Tensor):
            return x.unsqueeze(0) + torch.rand(4)  # here
        """,
    "dataset": """
        import torch
        from torch.utils.data import Dataset

        class Faces(Dataset):
            def mix(self, x: torch.Tensor):
                return x.unsqueeze(0) + torch.rand(4)  # here
        """,
    "cpu-object": """
        import torch
        from torch import nn

        class Server(nn.Module):
            def __init__(self):
                super().__init__()
                self.input_device = torch.device("cpu")
                self.model = nn.Linear(3, 3)

            def forward(self, x):
                return self.model(x.to("cpu"))  # here
        """,
    "device-chosen": """
        import torch

        def restored(path, model, use_cuda):
            if use_cuda:
                model.load_state_dict(torch.load(path))  # here
                model.cuda()
        """,
    "own-file": """
        import torch
        from torch import nn

        model = nn.Linear(3, 2)
        torch.save(model.state_dict(), "best.pt")
        model.load_state_dict(torch.load("best.pt"))  # here
        """,
    "cpu-file": """
        import torch
        from torch import nn

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        def save():
            torch.save(nn.Linear(3, 2).state_dict(), "best.pt")

        def read():
            model = nn.Linear(3, 2).to(device)
            model.load_state_dict(torch.load("best.pt"))  # here
        """,
    "cpu-program": """
        import torch
        from torch import nn

        def read():
            model = nn.Linear(3, 2)
            model.load_state_dict(torch.load("best.pt"))  # here
        """,
    "test-file": """
        import torch
        from torch import nn

        def test_reads():
            model = nn.Linear(3, 2).to("cuda" if torch.cuda.is_available() else "cpu")
            model.load_state_dict(torch.load("best.pt"))  # here
        """,
    "offloaded": """
        import torch
        from torch.distributed.fsdp import FullStateDictConfig

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        config = FullStateDictConfig(offload_to_cpu=True)
        model = torch.nn.Linear(3, 2).to(device)
        model.load_state_dict(torch.load("best.pt"))  # here
        """,
    "accelerators-only": """
        import torch

        model = torch.nn.Linear(3, 2).cuda()
        model.load_state_dict(torch.load("best.pt"))  # here
        """,
    "fails-before": """
        import sys
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = torch.nn.Linear(3, 2).to(device)
        model.cuda(int(sys.argv[1]))
        model.load_state_dict(torch.load("best.pt"))  # here
        """,
    "no-checkpoint": """
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        names = torch.load("names.pt")  # here
        """,
    "cpu-setting": """
        import torch

        def weighted(x: torch.Tensor, cuda):
            weights = torch.ones(2)
            if cuda:
                weights = weights.cuda()
            return x.sum(1) + weights  # here
        """,
}


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def ask(code: str, name: str = "train.py") -> list[str]:
        text = dedent(code).lstrip()
        Path(name).write_text(text, encoding="utf-8")
        line = 1 + next(n for n, one in enumerate(text.splitlines()) if one.endswith("# here"))
        assert main(["why", "--verdict", f"{name}:{line}"]) == 0
        out: str = capsys.readouterr().out
        return out.splitlines()

    return ask


def test_a_reported_clash_has_its_level_and_its_evidence(told):
    assert told(
        """
        import torch
        from torch import nn

        model = nn.Linear(3, 2).to("cuda")
        x = torch.zeros(4, 3)
        y = model(x)  # here
        """
    ) == [
        "train.py:6: y = model(x)  # here",
        "  model(): certain, reported  with an accelerator",
        "    model: cuda",
        "      train.py:4:9: module built on cpu here",
        "      train.py:4:9: moved to cuda here",
        "    x: cpu",
        "      train.py:5:5: created on cpu here",
    ]


@pytest.mark.parametrize("name", EXCUSED)
def test_an_excuse_is_named_with_its_reason(name, told):
    lines = told(EXCUSED[name], "test_train.py" if name.startswith("test") else "train.py")
    assert any(f"    excuse {name}: {reason}" in lines for reason in _reasons(name)), lines


OTHER = """\
import torch


def weighted(x):
    return x + torch.ones(3)


def shifted(x):
    return x + torch.ones(3, device=x.device) + torch.ones(3)
"""
CALLS = """
    import torch
    from other import shifted, weighted

    {}(torch.zeros(3).to("cuda"))  # here
    """


def test_a_call_shows_what_is_only_possible_in_another_file(told):
    Path("other.py").write_text(OTHER, encoding="utf-8")
    lines = told(CALLS.format("weighted"))
    assert lines[1:2] == ["  +: called, reported  with an accelerator"]


GRAPH = """
import torch
from {} import Data

def positions(data: Data):
    return torch.add(data.pos, data.pos).numpy()  # here
"""


def test_an_annotation_counts_for_what_its_name_is_bound_to(told):
    of_tensors = told(GRAPH.format("torch_geometric.data"))
    assert of_tensors[1].startswith("  .numpy(): open, reported")
    of_anything = told(GRAPH.format("elsewhere"))
    assert of_anything[1].startswith("  .numpy(): possible, excused")


def test_the_calls_of_the_project_show_what_its_own_file_does_not(told):
    Path("train.py").write_text(dedent(CALLS.format("weighted")).lstrip(), encoding="utf-8")
    here = OTHER.replace("return x +", "return x.unsqueeze(0) +", 1)
    lines = told(here.replace("ones(3)", "ones(3)  # here", 1), "other.py")
    assert lines[1:2] == ["  +: called, reported  with an accelerator"]


def test_where_all_calls_give_what_is_on_the_host_a_clash_is_excused(told):
    calls = dedent(CALLS.format("weighted")).replace('.to("cuda")', "")
    Path("train.py").write_text(calls.lstrip(), encoding="utf-8")
    here = OTHER.replace("return x +", "return x.unsqueeze(0) +", 1)
    lines = told(here.replace("ones(3)", "ones(3)  # here", 1), "other.py")
    reason = "every call in the project passes a value on the host"
    assert lines[-1] == f"    excuse host-calls: {reason}"


def test_of_many_files_that_may_call_it_some_show_an_accelerator_and_none_excuses(told):
    calls = dedent(CALLS.format("weighted")).lstrip()
    for number in range(9):
        Path(f"also_{number}.py").write_text(f"from other import weighted\n# {number}\n" * 40)
    here = OTHER.replace("return x +", "return x.unsqueeze(0) +", 1)
    Path("train.py").write_text(calls.replace('.to("cuda")', ""), encoding="utf-8")
    lines = told(here.replace("ones(3)", "ones(3)  # here", 1), "other.py")
    assert lines[1].startswith("  +: possible, not reported")
    Path("train.py").write_text(calls, encoding="utf-8")
    lines = told(here.replace("ones(3)", "ones(3)  # here", 1), "other.py")
    assert lines[1:2] == ["  +: called, reported  with an accelerator"]


def test_what_another_file_shows_by_itself_is_reported_there(told):
    Path("other.py").write_text(OTHER, encoding="utf-8")
    lines = told(CALLS.format("shifted"))
    assert lines[1:2] == ["  +: called, excused  with an accelerator"]
    assert lines[-1] == "    excuse another-file: it happens in another file: it is reported there"


def _reasons(name: str) -> set[str]:
    every = (*grounds.CLASH, *grounds.INPUT, *grounds.READ, *grounds.READ_TO_SEND)
    every = (*every, *grounds.NAMED, *grounds.DEMAND, *grounds.LOAD)
    excuses = [ground.excuse for ground in every]
    excuses += [grounds.OWN_FILE, grounds.TEST_FILE, grounds.OFFLOADED]
    excuses += [grounds.CPU_FILE, grounds.CPU_PROGRAM, grounds.FAILS_BEFORE]
    excuses += [grounds.FOR_ACCELERATORS, grounds.NO_CHECKPOINT]
    excuses += [verdicts.FAILS, grounds.UNDECLARED]
    excuses += [verdicts.MUTED, verdicts.ELSEWHERE, verdicts.CPU_SETTING, grounds.ON_HOST]
    return {excuse.reason for excuse in excuses if excuse.name == name}


def test_a_line_without_a_clash_says_so(told):
    assert told("x = 1  # here\n")[1:] == [
        "  no clash on this line: no values on different devices are combined"
    ]


MANY = """
    import argparse

    import torch
    from torch import nn

    parser = argparse.ArgumentParser()
    parser.add_argument("--weights")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Linear(4, 2).cuda()
    model.load_state_dict(torch.load(args.weights))  # here
    x = torch.zeros(3, 4).cuda() + torch.zeros(4).cuda()
    print(model(x), {}, device)
    """


def test_one_note_of_the_file_excuses_a_load(told):
    (_, verdict, excuse) = told(MANY.format("x.cuda()"))
    assert verdict == "  torch.load(): certain, excused  without an accelerator"
    assert excuse == f"    excuse many-demands: {views.ALL_IN_ONE.reason}"
    assert told(MANY.format("x"))[-1] == excuse  # The lines before are reported one by one.


def test_a_checkpoint_that_another_file_saves_from_the_cpu_is_excused(told):
    loads = MANY.format("x").replace(".cuda()", "").replace("args.weights", '"model.pt"')
    assert told(loads)[1:] == ["  torch.load(): certain, reported  without an accelerator"]
    saver = (
        "import torch\n\nnet = torch.nn.Linear(4, 2)\ntorch.save(net.state_dict(), 'model.pt')\n"
    )
    Path("saver.py").write_text(saver, encoding="utf-8")
    assert told(loads)[-1] == f"    excuse cpu-file: {grounds.CPU_FILE.reason}"


def test_what_the_code_sees_to_elsewhere_is_excused(told):
    tells = """
        import torch
        from torch import nn

        class Shifted(nn.Module):
            def __init__(self):
                super().__init__()
                self.shift = torch.zeros(3)

            def forward(self, x):
                return x.relu() + self.shift  # here

        {}
        """
    moves = "def placed(shifted):\n            return shifted.shift.cuda()\n"
    assert told(tells.format(""))[1:2] == ["  +: module, reported  with an accelerator"]
    assert f"    excuse seen-to: {views.SEEN_TO.reason}" in told(tells.format(moves))


AS_SURE = {
    "certain": {"certain", "called"},
    "by contract": {"module", "own rule", "open", "called"},
    "by belief": {"certain", "own rule"},
    "possible": {"possible"},
}
CLASHES = ("DEV101", "DEV102", "DEV103", "DEV106", "DEV109", "DEV201", "DEV202", "DEV303")
PAGES = ("imports_projects", "lengths_not_on_cpu", "unregistered_tensor")


@pytest.mark.parametrize("subject", tuple(examples()), ids=lambda subject: subject.name)
def test_the_verdict_agrees_with_the_report_on_examples(subject):
    assert list(_unlike(subject)) == []


def test_the_verdict_agrees_with_the_report_on_pages():
    told = [one for one in pages() if one.name.startswith(PAGES)]
    assert len(told) > 20
    assert [one for subject in told for one in _unlike(subject)] == []


def _unlike(subject):
    """The findings of a clash at whose place no verdict says the same, as surely."""
    with subject.place():
        source, config = subject.read(), replace(subject.config, extend_select=())
        project = subject.project()
        others = () if project is None else led_to(source, config, project)
        led = {(one.code, one.span) for one in others}
        for found in lint.check(source, config, subject.project()).findings:
            if found.code in CLASHES and (found.code, found.span) not in led:
                at = source.location(found.span.start)
                held = show.verdicts(source, at.line, subject.project(), at.cell, config).clashes
                levels = {one.level.value for one in held if not one.excuses}
                if levels.isdisjoint(AS_SURE[found.certainty.value]):
                    yield f"{subject.name}: {at} {found.code} {found.certainty.value}, {levels}"
