"""The message, to the letter, and the texts that it is given for."""

import builtins
from dataclasses import replace

import pytest

from runtime_guard.messages.message import MOST, WIDTH, render
from runtime_guard.messages.texts import TEXTS, text_of
from runtime_guard.mismatch import Line, Mismatch, TensorFacts

ONE = Mismatch(
    module="features.0",
    module_class="Conv2d",
    argument="input",
    tensor=TensorFacts("cpu", (64, 1, 8, 8), "torch.float32", 16384),
    expected="cuda:0",
    anchor="parameter 'weight'",
    failed_at=Line("net.py", 26, "Net.forward", "x = self.features(x)"),
    entered_at=Line("train.py", 52, "main", "outputs = model(inputs)"),
    advice="write `inputs = inputs.to(device)` before train.py:52",
)


def test_a_message_says_what_since_which_line_and_what_to_write():
    assert render([ONE]) == (
        "features.0 (Conv2d) has parameter 'weight' on cuda:0, but argument 'input' is on cpu\n"
        "  input:      float32[64, 1, 8, 8] on cpu\n"
        "  failed at:  net.py:26: x = self.features(x)\n"
        "  entered at: train.py:52: outputs = model(inputs)\n"
        "  to fix it:  write `inputs = inputs.to(device)` before train.py:52"
    )


def test_a_rank_comes_first_since_many_write_into_one_log():
    assert render([replace(ONE, rank="rank 1 on node7")]).startswith(
        "[rank 1 on node7] features.0 (Conv2d) has"
    )


def test_the_model_itself_is_named_by_its_class_and_one_line_is_said_once():
    message = render([replace(ONE, module="", failed_at=ONE.entered_at)])
    assert message.startswith("Conv2d has parameter 'weight'")
    assert "entered at" not in message
    assert "  failed at:  train.py:52: outputs = model(inputs)\n" in message


def test_where_a_library_calls_the_model_the_users_line_stands_as_well():
    message = render([replace(ONE, launched_at=Line("main.py", 9, "main", "trainer.fit(task)"))])
    assert "\n  started at: main.py:9: trainer.fit(task)\n" in message


def test_a_path_inside_an_argument_is_written_as_in_python():
    message = render([replace(ONE, argument='batch["mask"][0]')])
    assert 'argument `batch["mask"][0]` is on cpu\n  batch["mask"][0]: float32' in message


def test_a_tensor_that_is_no_argument_is_called_what_it_is():
    message = render([replace(ONE, argument="buffer 'mean'")])
    assert message.splitlines()[0].endswith("but buffer 'mean' is on cpu")
    assert message.splitlines()[1] == "  mean:       float32[64, 1, 8, 8] on cpu"


def test_several_arguments_of_one_call_are_said_together():
    advice = "write `mask = mask.to(device)` before train.py:52"
    message = render([ONE, replace(ONE, argument="mask", advice=advice)])
    assert message.splitlines()[0].endswith("but 2 of its arguments are on cpu")
    assert message.count("failed at") == 1
    assert message.count("to fix it") == 2


def test_the_same_advice_is_given_once():
    assert render([ONE, replace(ONE, argument="mask")]).count("to fix it") == 1


def test_of_many_mismatches_the_first_are_told_and_the_rest_counted():
    message = render([replace(ONE, module=f"layers.{index}") for index in range(MOST + 3)])
    assert message.count(" has parameter ") == MOST
    assert message.endswith("\nand 3 more")


def test_lines_are_no_wider_than_a_terminal():
    long = replace(
        ONE,
        module="encoder." * 15 + "linear",
        failed_at=Line("a/" * 20 + "net.py", 26, "f", "x = self.features(" + "x, " * 60 + ")"),
        entered_at=Line("a/" * 35 + "t.py", 5, "main", "outputs = model(" + "x, " * 60 + ")"),
        advice="write `" + "x + " * 15 + "x` and then " + "some more words " * 12,
        rank="rank 1 on node7",
    )
    message = render([long])
    assert all(len(line) <= WIDTH for line in message.splitlines() if "encoder" not in line)
    assert "`" + "x + " * 15 + "x`" in message  # Code is not broken over lines.
    assert message.count("…") == 2


def test_a_line_without_source_is_given_by_its_number():
    assert "\n  failed at:  <stdin>:1\n" in render(
        [replace(ONE, failed_at=Line("<stdin>", 1, "<module>", ""))]
    )


def test_without_lines_and_advice_the_rest_is_said():
    alone = replace(ONE, failed_at=None, entered_at=None, advice="")
    assert len(render([alone]).splitlines()) == 2


@pytest.mark.parametrize("text", TEXTS, ids=[text.name for text in TEXTS])
def test_each_text_is_recognised_by_itself_and_inside_another(text):
    for name in text.errors:
        kind = getattr(builtins, name)
        assert text_of(kind(text.example)) == text
        inside = f"Caught {name} in replica 0 on device 0.\nOriginal Traceback: {text.example}\n"
        assert text_of(kind(inside)) is text


@pytest.mark.parametrize("text", TEXTS, ids=[text.name for text in TEXTS])
def test_no_other_exception_says_it(text):
    assert text_of(KeyError(text.example)) is None
    assert text_of(OSError(2, text.example)) is None


OTHER_WORDINGS = [
    "Expected all tensors to be on the same device, but found at least two devices, mps:0 and cpu!",
    "Expected all tensors to be on the same device. addmm: expected 'mat1' to be a CPU tensor",
    "expected device cpu but got device cuda:0",
    "Tensor for 'out' is on CPU, Tensor for argument #1 'self' is on CPU, but expected them to be",
    "Expected object of backend CUDA but got backend CPU for argument #2 'mat2'",
    "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    "Input type (MPSFloatType) and weight type (torch.FloatTensor) should be the same",
    "Input type (CUDAFloatType) and weight type (CPUFloatType) should be the same",
    "Input and hidden tensors are not at the same device",
    "indices should be either on cpu or on the same device as the indexed tensor (cuda:0)",
    "Expected a cuda:0 generator device but found cpu",
    "Tensor on device meta is not on the expected device cuda:0!",
    "index_add(): self, index and source expected to be in the same device, but got (self) cpu",
    "torch.linalg.solve: Expected A and B to be on the same device, but found A on cpu",
    "X1 and X2 must have the same device type. X1: cpu X2: cuda",
    "grid_sampler(): expected input and grid to be on same device, but input is on cpu",
    "Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. ",
    "Found no NVIDIA driver on your system.",
    "No CUDA GPUs are available",
    "PyTorch is not linked with support for mps devices",
    "Tensor.item() cannot be called on meta tensors",
]


@pytest.mark.parametrize("message", OTHER_WORDINGS)
def test_other_wordings_of_the_same_are_recognised(message):
    assert text_of(RuntimeError(message)) is not None


NEAR_MISSES = [
    "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x4)",
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 11.17 GiB",
    "CUDA error: device-side assert triggered",
    "CUDA error: out of memory",
    "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
    "expected scalar type Float but found Half",
    "expected scalar type Long but found Int",
    "mat1 and mat2 must have the same dtype, but got Float and Half",
    "Input type (torch.cuda.HalfTensor) and bias type (torch.cuda.FloatTensor) should be the same",
    "Input type (torch.DoubleTensor) and weight type (torch.FloatTensor) should be the same",
    "Input type (CUDAFloatType) and weight type (CUDAHalfType) should be the same",
    "Input type (float) and bias type (c10::Half) should be the same",
    "Expected object of type torch.cuda.FloatTensor but found type torch.cuda.LongTensor",
    "Expected object of device type cuda but got device type cuda",
    "expected type torch.cuda.FloatTensor but got torch.cuda.DoubleTensor",
    "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cpu Int tensor",
    "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    "element 0 of tensors does not require grad and does not have a grad_fn",
    "index out of range in self",
    "",
]


@pytest.mark.parametrize("message", NEAR_MISSES)
def test_errors_about_something_else_are_not(message):
    for kind in (RuntimeError, TypeError, ValueError, AssertionError):
        assert text_of(kind(message)) is None


def test_an_error_without_a_text_is_about_nothing():
    assert text_of(RuntimeError()) is None
    assert text_of(RuntimeError(3, None)) is None
