"""What a file does with the machine."""

from __future__ import annotations

import pytest

from devicelint.workspace.machine_use import MachineUse

TORCH = "import torch\n"


def use(code: str) -> MachineUse:
    return MachineUse.of((TORCH + code).encode())


@pytest.mark.parametrize(
    "code",
    [
        'device = "cuda" if torch.cuda.is_available() else "cpu"\n',
        "use_gpu = torch.cuda.is_available()\n",
        "if torch.cuda.is_available():\n    net.cuda()\n",
        "def where():\n    if torch.cuda.is_available():\n        return 0\n",
        "kind = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.Tensor\n",
        "from torch.cuda import is_available\nprint(is_available())\n",
        "import torch.backends.mps as mps\nif mps.is_available():\n    x = 1\n",
        "def start(settings):\n    return torch.device(settings.where)\n",
    ],
)
def test_a_file_that_asks_chooses(code: str) -> None:
    assert use(code).chooses


@pytest.mark.parametrize(
    "code",
    [
        "assert torch.cuda.is_available()\n",
        "if not torch.cuda.is_available():\n    raise SystemExit\n",
        "import sys\nif not torch.cuda.is_available():\n    sys.exit(1)\n",
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed(1)\n",
        "if torch.cuda.is_available():\n    print(torch.cuda.memory_allocated())\n",
        "used = torch.cuda.memory_allocated() if torch.cuda.is_available() else 0\n",
        "class Mine:\n    def is_available(self): ...\nMine().is_available()\n",
        'device = torch.device("cuda")\n',
    ],
)
def test_a_question_that_changes_nothing_chooses_nothing(code: str) -> None:
    assert not use(code).chooses


def test_a_program_that_names_an_accelerator_takes_it() -> None:
    started = 'if __name__ == "__main__":\n    run()\n'
    moves = "def run():\n    return torch.ones(2).cuda()\n"
    assert use(moves + started).takes
    assert not use(moves).takes
    assert not use("def run(): ...\n" + started).takes
    assert not use(moves + started + "print(torch.cuda.is_available())\n").takes


def test_other_files_do_nothing() -> None:
    assert MachineUse.of(b"print('cuda')\n") == MachineUse(leaves=True)
    assert MachineUse.of(b"print('cpu')\n") == MachineUse()
    assert MachineUse.of(b"import torch\nprint 1\n") == MachineUse()


@pytest.mark.parametrize(
    "code",
    [
        "device = torch.device(args.device)\n",
        "device = torch.device(settings['device'])\n",
        "def start(name):\n    return torch.device(name)\n",
        "def start(*, name='cpu'):\n    if name:\n        return torch.device(name)\n",
    ],
)
def test_a_file_to_which_a_device_is_named_lets_others_choose(code: str) -> None:
    assert use(code).lets


@pytest.mark.parametrize(
    "code",
    [
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n",
        "name = 'cuda' if torch.cuda.is_available() else 'cpu'\ndevice = torch.device(name)\n",
        "def start(size):\n    name = 'cuda'\n    return torch.device(name)\n",
        "def start(name):\n    return make(name)\n",
    ],
)
def test_a_file_that_asks_the_machine_alone_does_not(code: str) -> None:
    assert not use(code).lets


@pytest.mark.parametrize(
    "code",
    [
        "x = torch.ones(2).cuda()\n",
        "def move(x, place):\n    return x.to(place)\n",
        "x = torch.ones(2, device=where)\n",
        "def beside(x):\n    return torch.ones(2).to(x.device)\n",
        'parser.add_argument("--where", default="cuda:0")\n',
        "from pytorch_lightning import Trainer\n",
    ],
)
def test_what_speaks_of_devices_may_leave_the_cpu(code: str) -> None:
    assert use(code).leaves


@pytest.mark.parametrize(
    "code",
    [
        "x = torch.ones(2).to(torch.float64)\n",
        "loss = torch.ones(2).sum()\n",
        'torch.load("weights.pt", map_location="cpu")\n',
    ],
)
def test_what_does_not_stays_there(code: str) -> None:
    assert not use(code).leaves


def test_a_file_trains_that_computes_gradients() -> None:
    assert use("def step(loss):\n    loss.backward()\n").trains
    assert not use("def step(loss):\n    return loss\n").trains
