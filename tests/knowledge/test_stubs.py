"""What devicelint.knowledge says, and that its data keep to their grammar."""

import ast

import pytest

from devicelint import knowledge
from devicelint.knowledge import (
    Form,
    ModuleKind,
    Result,
    Role,
    Slot,
    catalogue,
    grammar,
    stubs_index,
)
from devicelint.knowledge import hosts as hosts_module
from devicelint.knowledge.signature import CPU, DEVICE

EXACT = Slot(Role.OPERAND, "D")
EXCUSED = Slot(Role.OPERAND, "D", scalar_excused=True)


def function(name):
    found = knowledge.function(name)
    assert found is not None, name
    return found


def method(name):
    found = knowledge.tensor_method(name)
    assert found is not None, name
    return found


def test_each_argument_finds_its_slot():
    add = function("torch.add")
    assert add.slots(2) == (EXCUSED, EXCUSED)
    assert add.slots(1, ["other", "alpha"]) == (EXCUSED, EXCUSED, None)


def test_arguments_beyond_the_named_ones_take_the_slot_of_the_star():
    assert function("torch.einsum").slots(3) == (
        None,
        *[Slot(Role.OPERAND, "D", sequence=True)] * 2,
    )
    assert function("torch.zeros").slots(2) == (Slot(Role.SIZE),) * 2
    assert function("torch.relu").slots(2) == (EXACT, None)


def test_an_out_argument_is_an_exact_operand_of_every_function_of_tensors():
    assert function("torch.add").slots(2, ["out"]) == (EXCUSED, EXCUSED, EXACT)
    assert function("torch.sort").slots(1, ["out"]) == (
        EXACT,
        Slot(Role.OPERAND, "D", sequence=True),
    )


def test_each_argument_finds_its_name():
    assert function("torch.gather").names(2, ["index"]) == ("input", "dim", "index")
    assert function("torch.einsum").names(3) == ("equation", "operands", "operands")


def test_a_reduction_without_a_dimension_is_0_dim():
    total = function("torch.sum")
    assert total.result_of(1) == Result(Form.ZERO_DIM, "D")
    assert total.result_of(2) == Result(Form.VIEW, "D")
    assert total.result_of(1, ["dim"]) == Result(Form.VIEW, "D")
    assert total.result_of(1, ["dtype"]) == Result(Form.ZERO_DIM, "D")


def test_a_star_may_hide_the_dimension():
    assert function("torch.sum").result_of(1, is_open=True) == Result(Form.VIEW, "D")
    assert function("torch.max").result_of(1, is_open=True) == Result(Form.ANY)
    both = function("torch.std_mean").result_of(1, is_open=True)
    assert {item.form for item in both.items} == {Form.VIEW}


def test_max_along_a_dimension_gives_values_and_indices():
    maximum = method("max")
    assert maximum.result_of(1) == Result(Form.ZERO_DIM, "D")
    values, indices = maximum.result_of(2).items
    assert (values.no_grad, indices.no_grad) == (False, True)


def test_several_reductions_at_once_are_each_resolved():
    both = function("torch.std_mean")
    assert {item.form for item in both.result_of(1).items} == {Form.ZERO_DIM}
    assert {item.form for item in both.result_of(1, ["dim"]).items} == {Form.VIEW}


def test_creations_are_on_the_device_argument_or_follow_their_example():
    zeros, like = function("torch.zeros"), function("torch.zeros_like")
    assert zeros.result == Result(Form.VIEW, DEVICE, no_grad=True)
    assert zeros.device_default is None
    assert like.result == Result(Form.TENSOR, DEVICE, no_grad=True)
    assert like.device_default == "D"
    assert method("new_zeros").device_default == "D"
    assert function("torch.from_numpy").result.group == CPU


def test_a_method_is_the_function_of_the_same_name():
    assert method("matmul") == function("torch.matmul")


def test_a_method_that_takes_no_tensor_first_is_no_method():
    assert knowledge.tensor_method("cat") is None
    assert knowledge.tensor_method("zeros") is None
    assert knowledge.tensor_method("no_such_method") is None
    assert knowledge.tensor_method("no_such_method_") is None
    assert knowledge.tensor_method("__no_such_method__") is None
    assert knowledge.function("torch.__no_such_function__") is None


def test_in_place_methods_write_to_their_receiver():
    added = method("add_")
    assert added.slots(2) == (EXACT, EXCUSED)
    assert added.result == Result(Form.SELF)
    assert function("torch.add_") == added
    assert method("requires_grad_").result == Result(Form.SELF)


def test_copies_cross_devices():
    assert method("copy_").slots(2) == (EXACT, Slot(Role.FREE))


def test_an_index_may_stay_on_the_cpu():
    assert method("__getitem__").slots(2) == (EXACT, Slot(Role.INDEX, "D"))
    assert function("torch.index_select").slots(3) == (EXACT, None, EXACT)


def test_detach_stops_gradients_and_keeps_the_rank():
    assert method("detach").result == Result(Form.TENSOR, "D", no_grad=True)


def test_attributes_of_tensors():
    assert knowledge.tensor_attribute("T") == Result(Form.TENSOR, "D")
    assert knowledge.tensor_attribute("shape") == Result(Form.HOST)
    assert knowledge.tensor_attribute("matmul") is None
    assert knowledge.tensor_attribute("view") is None


def test_second_names_have_the_same_signature():
    assert function("torch.absolute") == function("torch.abs")
    assert function("torch.special.expit") == function("torch.sigmoid")
    assert function("torch.functional.einsum") == function("torch.einsum")
    assert function("torch.Tensor.matmul") == method("matmul")


def test_what_is_not_described_is_unknown():
    assert knowledge.function("torch.no_such_function") is None
    assert knowledge.function("mypackage.relu") is None
    assert knowledge.module_class("torch.nn.Module") is None
    assert knowledge.module_class("mypackage.Linear") is None
    assert knowledge.kind_of("mypackage.SGD") is None


def test_a_module_states_its_forward_and_what_it_owns():
    linear = knowledge.module_class("torch.nn.Linear")
    assert linear is not None
    assert linear.forward is not None
    assert (linear.kind, linear.owns_tensors) == (ModuleKind.LEAF, True)
    assert linear.forward.slots(1) == (EXACT,)
    assert linear.forward.owns == "D"
    relu = knowledge.module_class("torch.nn.modules.activation.ReLU")
    assert relu is not None
    assert not relu.owns_tensors


def test_a_loss_states_which_arguments_become_buffers():
    loss = knowledge.module_class("torch.nn.CrossEntropyLoss")
    assert loss is not None
    assert (loss.kind, loss.buffers) == (ModuleKind.LOSS, ("weight",))
    inherited = knowledge.module_class("torch.nn.NLLLoss2d")
    assert inherited is not None
    assert (inherited.kind, inherited.buffers) == (ModuleKind.LOSS, ("weight",))


def test_containers_and_wrappers_have_no_forward_of_their_own():
    for name, kind in (("ModuleList", ModuleKind.CONTAINER), ("DataParallel", ModuleKind.WRAPPER)):
        found = knowledge.module_class(f"torch.nn.{name}")
        assert found is not None
        assert (found.kind, found.forward) == (kind, None)


def test_parameter_is_a_function_of_tensors():
    assert knowledge.module_class("torch.nn.Parameter") is None
    assert function("torch.nn.Parameter").result == Result(Form.TENSOR, "D")
    assert function("torch.nn.parameter.Parameter") == function("torch.nn.Parameter")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.optim.SGD", "optimizer"),
        ("torch.optim.adam.Adam", "optimizer"),
        ("torch.optim.lr_scheduler.StepLR", "scheduler"),
        ("torch.utils.data.DataLoader", "loader"),
        ("torch.cuda.amp.GradScaler", "scaler"),
        ("torch.distributed.all_reduce", "distributed"),
        ("torchvision.models.resnet18", "model"),
        ("torchvision.models.segmentation.fcn_resnet50", "model"),
        ("torchvision.models.ResNet18_Weights", None),
        ("torchvision.models.list_models", None),
        ("torchvision.datasets.MNIST", "dataset"),
        ("torchvision.transforms.functional.to_tensor", None),
    ],
)
def test_kinds(name, kind):
    assert knowledge.kind_of(name) == kind


@pytest.mark.parametrize(
    ("name", "converts"),
    [
        ("numpy.mean", True),
        ("numpy.linalg.norm", True),
        ("numpy.random.seed", False),
        ("numpy.random.choice", True),
        ("numpy.shape", False),
        ("sklearn.metrics.f1_score", True),
        ("matplotlib.pyplot.plot", True),
        ("matplotlib.pyplot.title", False),
        ("torchvision.utils.save_image", False),
        ("mypackage.mean", False),
    ],
)
def test_libraries_that_read_tensors_as_arrays(name, converts):
    assert knowledge.converts_to_numpy(name) is converts


@pytest.mark.parametrize(
    ("name", "lists_alone"),
    [("numpy.mean", True), ("numpy.nonzero", True), ("numpy.sqrt", False), ("numpy.shape", False)],
)
def test_libraries_that_leave_a_tensor_to_its_own_methods(name, lists_alone):
    assert knowledge.converts_elements_alone(name) is lists_alone


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("def f(x: Tensr[D]) -> None: ...", "parameter annotation: Tensr[D]"),
        ("def f(x: Tensor[X]) -> None: ...", "device group: X"),
        ("def f(x: Tensor | None) -> None: ...", "parameter annotation: Tensor | None"),
        ("def f(x: Index[D] | Scalar) -> None: ...", "parameter annotation: Index[D] | Scalar"),
        ("def f(x: list[Tensor[D]]) -> None: ...", "parameter annotation: list[Tensor[D]]"),
        ("def f(x) -> Tensor: ...", "result: Tensor"),
        ("def f(x) -> View[D] | None: ...", "result: View[D] | None"),
        ("def f(x) -> Set[D]: ...", "result: Set[D]"),
        ("def f(x): ...", "f states no result"),
    ],
)
def test_an_annotation_outside_the_grammar_is_an_error(line, complaint):
    node = ast.parse(line).body[0]
    assert isinstance(node, ast.FunctionDef)
    with pytest.raises(grammar.GrammarError) as caught:
        grammar.signature(node)
    assert caught.value.message.endswith(complaint)


@pytest.fixture
def stub_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(stubs_index, "FOLDER", tmp_path)
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    caches = (
        stubs_index.index,
        knowledge.function,
        knowledge.tensor_method,
        knowledge.module_class,
        knowledge.converts_to_numpy,
        knowledge.converts_elements_alone,
        hosts_module._hosts,
    )
    for cache in caches:
        cache.cache_clear()
    yield tmp_path
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "def good() -> None: ...\n\ndef bad(\n    x: Tensr[D],\n) -> None: ...\n",
            "fft.pyi:4: unknown",
        ),
        ("bad = missing\n", "fft.pyi:1: no stub for torch.fft.missing"),
        ("def bad(: ...\n", "fft.pyi:1: invalid syntax"),
        (
            "def bad() -> None: ...\ndef bad() -> None: ...\n",
            "fft.pyi:2: bad is already in fft.pyi",
        ),
    ],
)
def test_an_error_in_a_stub_names_its_file_and_line(stub_folder, text, place):
    (stub_folder / "fft.pyi").write_text(text)
    with pytest.raises(knowledge.StubError) as caught:
        knowledge.function("torch.fft.bad")
    assert str(caught.value).startswith(place)


def test_an_error_in_a_module_stub_names_its_file_and_line(stub_folder):
    for name in stubs_index.SOURCES["torch.nn"]:
        (stub_folder / f"{name}.pyi").parent.mkdir(exist_ok=True)
        (stub_folder / f"{name}.pyi").write_text("")
    stub = stub_folder / "nn/modules.pyi"
    stub.write_text(
        "class A(Module):\n    def forward(self: Owned[X]) -> None: ...\nclass B(Z): ...\n"
    )
    with pytest.raises(knowledge.StubError, match=r"^nn/modules\.pyi:2: unknown device group: X"):
        knowledge.module_class("torch.nn.A")
    with pytest.raises(knowledge.StubError, match=r"^nn/modules\.pyi:3: no stub for torch\.nn\.Z"):
        knowledge.module_class("torch.nn.B")


def test_an_unknown_mark_is_an_error(stub_folder):
    (stub_folder / "hosts.pyi").write_text("class numpy:\n    mean: Convrts\n")
    with pytest.raises(knowledge.StubError, match=r"numpy\.mean: unknown mark Convrts"):
        knowledge.converts_to_numpy("numpy.mean")


def test_a_catalogue_holds_marks_alone(stub_folder):
    (stub_folder / "hosts.pyi").write_text("class numpy:\n    def mean(): ...\n")
    with pytest.raises(knowledge.StubError, match=r"^hosts\.pyi:2: "):
        knowledge.converts_to_numpy("numpy.mean")
