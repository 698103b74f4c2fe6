"""The harness that runs pytorch/examples, on scripts of a few lines."""

from pathlib import Path

import pytest

from benchmarks.pytorch_examples.comparing import compare, last_line, spoken
from benchmarks.pytorch_examples.inputs import MAKERS
from benchmarks.pytorch_examples.mutants import mutants_of, run_mutant
from benchmarks.pytorch_examples.runs import RUNS, Run
from benchmarks.pytorch_examples.scratch import Scratch, ScratchError, torchvision_for
from benchmarks.pytorch_examples.survivors import REASONS

BEGINNING = """\
import torch

device = torch.accelerator.current_accelerator()
model = torch.nn.Linear(3, 2)
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.rand(4, 3).to(device)
loss = model(x).sum()
"""

END = """\
loss.backward()
optimizer.step()
print(f"Loss: {loss.item():.6f}")
"""

RUN = Run("tiny", "tiny", ("main.py",))


@pytest.fixture
def scratch(tmp_path):
    """A scratch folder beside a checkout with one example, which a test writes."""
    (tmp_path / "checkout" / "tiny").mkdir(parents=True)
    return Scratch(tmp_path / "scratch", tmp_path / "checkout")


def write(scratch: Scratch, text: str) -> None:
    (scratch.checkout / "tiny" / "main.py").write_text(text)


def test_a_script_that_learns_the_same_is_well(scratch):
    write(scratch, BEGINNING + END)
    compared = compare(scratch, RUN)
    assert compared.fault == ""
    assert compared.values == 1
    assert compared.virtual.devices == ("cuda",)
    (lines,) = compared.virtual.learned
    assert [line.split()[0] for line in lines] == ["-", "backward", "step"]


def test_a_script_that_learns_something_else_on_a_gpu_is_told(scratch):
    write(scratch, BEGINNING + "loss = loss * (1 + 1e-6 * (device.type == 'cuda'))\n" + END)
    assert compare(scratch, RUN).fault == "learned something else than on the CPU"


def test_a_script_that_does_not_use_the_accelerator_is_told(scratch):
    write(scratch, BEGINNING.replace("torch.accelerator.current_accelerator()", "'cpu'") + END)
    assert compare(scratch, RUN).fault == "learned on cpu, not on cuda"


def test_a_script_that_fails_is_told_with_its_error(scratch):
    write(scratch, BEGINNING + "raise ValueError('no more data')\n")
    assert compare(scratch, RUN).fault == "failed on the CPU: ValueError: no more data"


def test_each_move_is_taken_out_and_judged(scratch):
    moves = "if x.dim() == 9:\n    x = x.cpu()\nloss = loss.to(device)\n"
    write(scratch, BEGINNING + moves + END)
    fates = [run_mutant(scratch, mutant) for mutant in mutants_of(scratch, RUN)]
    assert [(each.move.text, each.written, each.fate) for each in fates] == [
        (".to(device)", "model.to(device)", "caught"),
        (".to(device)", "x = torch.rand(4, 3).to(device)", "caught"),
        (".cpu()", "x = x.cpu()", "not executed"),
        (".to(device)", "loss = loss.to(device)", "survived"),
    ]
    assert fates[0].told.startswith("RuntimeError: Expected all tensors to be on the same device")
    assert [each.is_accounted_for for each in fates] == [True, True, True, False]


def test_a_release_of_torch_names_its_torchvision():
    assert torchvision_for("2.13.0+cpu") == "0.28.0"
    assert torchvision_for("2.6.1") == "0.21.1"
    with pytest.raises(ScratchError, match="which torchvision goes with it is not known"):
        torchvision_for("3.0.0")


def test_figures_are_found_in_what_scripts_print():
    said = "Train Epoch: 1 [0/256 (0%)]\tLoss: 2.298341\nTime 0.113 | ppl   41.20 | Acc@1 12.50"
    assert spoken(said) == ["12.50", "2.298341", "41.20"]


def test_the_error_is_what_is_told_of_many_lines():
    assert last_line("a\nRuntimeError: bad\n  at line 3\n\n") == "RuntimeError: bad"
    assert last_line("") == "nothing was said"


def test_runs_and_reasons_name_what_there_is():
    names = [run.name for run in RUNS]
    assert len(names) == len(set(names)) >= 25
    assert {each for run in RUNS for each in run.inputs} <= set(MAKERS)
    assert {name for name, *_ in REASONS} <= set(names)


def test_the_data_is_the_same_each_time(tmp_path):
    for name, maker in MAKERS.items():
        trees = []
        for time in ("once", "again"):
            folder = tmp_path / time / name / "script"
            folder.mkdir(parents=True)
            maker(folder.parent, folder)
            trees.append(contents(folder.parent))
        assert trees[0] == trees[1], name


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but archives, which hold times."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".tgz")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
