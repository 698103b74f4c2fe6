"""Blocks that are executed: a page that says of torch what it does not do fails, and says where."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.mdtest.execution import differences
from tests.mdtest.expectations import annotated
from tests.mdtest.page import Run

GPU = 'import torch\ngpu = torch.ones(3, device="cuda")\ncpu = torch.ones(3)\n'
MIXED = "found at least two devices"


def told(code: str, how: Run | None = None, *, start: str = GPU) -> list[tuple[int, str, str]]:
    """Line (after the start), expected and actual of everything that does not hold."""
    block = annotated(start + dedent(code))
    assert block.problems == ()
    found = differences(block.code, "example.py", block.expectations, how or Run())
    return [(one.line - start.count("\n"), one.expected, one.actual) for one in found]


def only(found: list[tuple[int, str, str]]) -> tuple[int, str, str]:
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    "code",
    [
        "gpu + cpu  # error",
        "gpu + cpu  # error: [mixed-devices]",
        f'gpu + cpu  # raises: "{MIXED}"',
        "# raises\ngpu + cpu",
        "(\n    gpu\n    + cpu  # raises\n)",
        "for one in (cpu, gpu):\n    one + gpu  # raises",
        "if (gpu + cpu).sum() > 0:  # raises\n    print(1)",
        "while (gpu + cpu).sum() > 0:  # raises\n    print(1)",
        "for one in gpu + cpu:  # raises\n    print(one)",
        "with torch.device((gpu + cpu).device):  # raises\n    print(1)",
        "class Sum:\n    total = gpu + cpu  # raises\n    other = 3\nprint(Sum.other)",
        "def late(x=gpu + cpu):  # raises\n    return x",
        "def add(a, b):\n    return a + b  # raises\nadd(gpu, cpu)",
        "def add(a, b):\n    return a + b\nadd(gpu, cpu)  # raises",
        "match gpu + cpu:  # raises\n    case _:\n        pass",
        "try:\n    gpu + cpu  # raises\nfinally:\n    print(1)",
        "import sys\ngpu + cpu  # raises\nsys.exit()",
        "import sys\ngpu + cpu  # raises\nsys.exit('stops here')",
        'from __future__ import annotations\n"""Text."""\n' + GPU + "gpu + cpu  # raises",
    ],
)
def test_torch_objects_where_the_page_says(code: str) -> None:
    assert told(code, start="" if "__future__" in code else GPU) == []


def test_a_marked_line_that_does_not_raise_fails() -> None:
    assert only(told("gpu + gpu  # error")) == (
        1,
        "raises on 2 virtual devices",
        "nothing is raised",
    )


def test_an_unmarked_line_that_raises_fails() -> None:
    line, expected, actual = told("gpu + gpu\ngpu + cpu\nreveal_device(gpu)  # revealed: cuda")[0]
    assert (line, expected) == (2, "runs on 2 virtual devices")
    assert MIXED in actual


def test_the_body_of_a_marked_statement_is_not_marked() -> None:
    line, expected, _ = told("if gpu.sum() > 0:  # error\n    gpu + cpu")[0]
    assert (line, expected) == (2, "runs on 2 virtual devices")


def test_the_wrong_words_fail() -> None:
    line, expected, actual = only(told('gpu + cpu  # raises: "mat1"'))
    assert (line, expected) == (1, '# raises: "mat1"')
    assert MIXED in actual


@pytest.mark.parametrize("mark", ["error", "raises"])
def test_an_error_that_names_no_device_has_to_be_spelled_out(mark: str) -> None:
    line, _, actual = only(told(f"gpu + torch.ones(2).to(gpu)  # {mark}"))
    assert line == 1
    assert "must match the size" in actual
    assert told('gpu + torch.ones(2).to(gpu)  # raises: "must match the size"') == []


def test_where_torch_raises_counts_and_not_the_finding() -> None:
    assert told(f'late = torch.ones(3)  # error\nlate + gpu  # raises: "{MIXED}"') == []


def test_nothing_may_be_what_torch_raises() -> None:
    assert told("cpu.cuda()  # error  # raises: nothing") == []
    assert only(told("gpu + cpu  # error  # raises: nothing"))[1] == "runs on 2 virtual devices"


def test_a_line_that_announces_something_is_reached() -> None:
    code = "def unused():\n    return gpu + gpu  # warning\n"
    assert only(told(code)) == (
        2,
        "is reached on 2 virtual devices",
        "nothing comes to this line",
    )


@pytest.mark.parametrize(
    "code",
    [
        "total = gpu + cpu  # raises\nprint(total)",
        "total = gpu + cpu  # raises\nmore = total * 2\nprint(more)",
        "cpu = gpu + cpu  # raises\nprint(cpu.sum() + cpu.device)",
        "def work():\n    one = gpu + cpu  # raises\n    return one.sum()\nprint(work().item())",
        "def work():\n    kept = []\n    kept.append(gpu + cpu)  # raises\n    kept[0]\nwork()",
        "class Kept:\n    pass\nkept = Kept()\nkept.sum = gpu + cpu  # raises\nprint(kept.sum)",
    ],
)
def test_the_run_goes_on_without_what_the_statement_would_have_bound(code: str) -> None:
    assert told(code) == []


def test_what_else_fails_after_it_is_told() -> None:
    code = "total = gpu + cpu  # raises\nprint(other)"
    assert only(told(code))[2] == "NameError: name 'other' is not defined"
    code = "def work():\n    gpu + cpu  # raises\n    gpu.numpy()\nwork()"
    assert "numpy" in only(told(code))[2]


@pytest.mark.parametrize(
    "code",
    [
        "reveal_device(gpu)  # revealed: cuda",
        "reveal_device(gpu)  # revealed: cuda:0",
        "reveal_device(torch.nn.Linear(3, 2).cuda())  # revealed: cuda",
        "reveal_device(gpu.device)  # revealed: cuda",
        "reveal_device([cpu, 3])  # revealed: cpu",
        'reveal_device({"x": gpu})  # revealed: cuda',
        "reveal_device(gpu.cpu().numpy())  # revealed: host",
        "reveal_device(gpu.tolist())  # revealed: host",
        "reveal_device([])  # revealed: cuda",
        "data = torch.utils.data.TensorDataset(gpu)\nreveal_device(data)  # revealed: cuda",
        "loader = torch.utils.data.DataLoader(gpu)\nreveal_device(loader)  # revealed: cuda",
        "reveal_device([cpu, gpu])  # revealed: unknown",
        "device = gpu.device\nreveal_device(gpu)  # revealed: device",
        "x = gpu\nreveal_device(gpu)  # revealed: the device of x",
        "reveal_device(gpu)  # revealed: config.out.of_sight",
        "from devicelint import reveal_device\nreveal_device(gpu)  # revealed: cuda",
    ],
)
def test_a_value_lies_where_it_is_said_to_lie(code: str) -> None:
    assert told(code) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("reveal_device(gpu)  # revealed: cpu", "cuda:0"),
        ("reveal_device(cpu)  # revealed: cuda", "cpu"),
        ("reveal_device(gpu)  # revealed: cuda:1", "cuda:0"),
        ("reveal_device(cpu.numpy())  # revealed: cpu", "host"),
        ("reveal_device([cpu, gpu])  # revealed: cuda", "cpu and cuda:0"),
        ("device = cpu.device\nreveal_device(gpu)  # revealed: device", "cuda:0"),
        ("x = cpu\nreveal_device(gpu)  # revealed: the device of x", "cuda:0"),
    ],
)
def test_a_wrong_place_fails(code: str, found: str) -> None:
    assert only(told(code))[2] == found


CHOSEN = 'import torch\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n'


def test_each_machine_has_its_place_where_several_are_announced() -> None:
    code = "reveal_device(torch.ones(3, device=device))  # revealed: {}  # revealed: {}"
    assert told(code.format("cuda", "cpu"), start=CHOSEN) == []
    _, expected, actual = only(told(code.format("cuda", "mps"), start=CHOSEN))
    assert (expected, actual) == ("cuda or mps without an accelerator", "cpu")


def test_a_block_that_announces_nothing_runs_on_both_machines_and_is_reached() -> None:
    assert told("torch.ones(3, device=device)", start=CHOSEN) == []
    assert only(told("torch.ones(3).cuda()", start=CHOSEN))[1] == "runs without an accelerator"
    assert told("torch.ones(3).cuda()", Run(2, alone=True), start=CHOSEN) == []
    branches = 'if device == "cpu":\n    print(1)\nelse:\n    print(2)\n'
    assert told(branches, start=CHOSEN) == []
    assert only(told("def unused():\n    return 3\n", start=CHOSEN)) == (
        2,
        "is reached on some machine",
        "nothing comes to this line",
    )


def test_without_an_accelerator_a_warning_says_what_fails() -> None:
    cpu = Run(0)
    code = 'torch.ones(3, device="cuda")  # warning\n'
    assert told(code, cpu, start=CHOSEN) == []
    assert told(code, start=CHOSEN) == []
    _, expected, _ = only(told("torch.ones(3, device=device)  # warning", cpu, start=CHOSEN))
    assert expected == "raises without an accelerator"


def test_what_fails_without_an_accelerator_alone_runs_with_one() -> None:
    code = 'torch.ones(3, device="cuda").numpy()  # warning'
    line, expected, _ = only(told(code, Run(0), start=CHOSEN))
    assert (line, expected) == (1, "runs on 2 virtual devices")


def test_a_known_miss_is_still_what_torch_does() -> None:
    assert told("gpu + cpu  # todo error: [mixed-devices]  # raises") == []
    assert len(told("gpu + cpu  # todo error: [mixed-devices]", Run(2, alone=True))) == 1
