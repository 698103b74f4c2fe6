"""From a stack, or a traceback, to the modules and lines that a message names."""

import gc
import importlib.util
import linecache
import sys
import threading
import weakref
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.parallel import DataParallel
from torch.utils.checkpoint import checkpoint

from runtime_guard.lines import short_path
from runtime_guard.messages.frames import (
    call_of,
    path_of,
    steps_of_stack,
    steps_of_traceback,
    values_of,
    whereabouts,
)
from runtime_guard.mismatch import Line

X = torch.ones(2, 3)


class Leaf(nn.Module):
    """Looks around when it is called, and keeps what it saw."""

    def __init__(self, root=None):
        super().__init__()
        self.root = (root,)
        self.seen = []

    def forward(self, x, scale=1.0, *others, bias=None, **options):
        found = whereabouts(steps_of_stack(sys._getframe()), self.root[0])
        # The lines, the path and the classes alone: nothing that keeps a frame.
        names = found.path, type(found.root).__name__, type(found.module).__name__
        self.seen.append((*names, *(line and line.text for line in lines_of(found))))
        return x


class Block(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class Failing(nn.Module):
    def forward(self, x):
        raise RuntimeError("on purpose")


def lines_of(found):
    return found.failed_at, found.entered_at, found.launched_at


def line_of(line: Line | None) -> Line:
    assert line is not None
    return line


def library(tmp_path, source: str) -> Any:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    file = folder / "some_trainer.py"
    file.write_text(source)
    spec: Any = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_module_its_root_and_both_lines_are_found():
    leaf = Leaf()
    model = Block(nn.Identity(), leaf)
    model(X)
    ((path, root, module, _, entered, launched),) = leaf.seen
    assert (path, root, module) == ("layers.1", "Block", "Leaf")
    assert entered == "model(X)"
    assert launched is None


def test_the_failing_line_of_a_traceback_is_the_innermost_outside_torch():
    model = Block(nn.Identity(), nn.Linear(4, 4))
    with pytest.raises(RuntimeError) as caught:
        model(X)
    found = whereabouts(steps_of_traceback(caught.value.__traceback__))
    assert (found.path, type(found.module)) == ("layers.1", nn.Linear)
    assert line_of(found.failed_at).text == "return self.layers(x)"
    assert line_of(found.failed_at).function.endswith("forward")
    assert line_of(found.entered_at).text == "model(X)"


def test_a_module_that_is_about_to_be_called_is_entered_at_the_present_line():
    leaf = nn.Linear(3, 3)
    found = whereabouts(steps_of_stack(sys._getframe()), None, leaf)
    assert found.root is leaf
    assert found.path == ""
    assert found.entered_at == found.failed_at


def test_a_forward_that_is_called_directly_counts_as_a_call():
    leaf = Leaf()
    model = Block(leaf)
    model.forward(X)
    assert leaf.seen[0][:3] == ("layers.0", "Block", "Leaf")
    assert leaf.seen[0][4] == "model.forward(X)"


@torch.no_grad()
def evaluate(model, x):
    return model(x)


def test_decorators_and_functions_between_do_not_hide_the_line_of_entry():
    leaf = Leaf()
    evaluate(Block(leaf), X)
    assert leaf.seen[0][0] == "layers.0"
    assert leaf.seen[0][4] == "return model(x)"


def test_a_function_that_takes_a_model_first_is_not_a_method_of_it():
    def train(self, model):
        raise RuntimeError

    with pytest.raises(RuntimeError) as caught:
        train(X, nn.Linear(3, 3))
    assert whereabouts(steps_of_traceback(caught.value.__traceback__)).module is None


def test_a_helper_method_of_a_module_is_that_module_failing():
    class Attention(nn.Module):
        def forward(self, x):
            return self.scores(x)

        def scores(self, x):
            raise RuntimeError

    with pytest.raises(RuntimeError) as caught:
        Block(Attention())(X)
    found = whereabouts(steps_of_traceback(caught.value.__traceback__))
    assert (found.path, type(found.module)) == ("layers.0", Attention)


class Gan(nn.Module):
    def __init__(self, leaf):
        super().__init__()
        self.generator = Block(leaf)

    def fit(self, x):
        self.step(x)

    def step(self, x):
        self.generator(x)


@pytest.mark.parametrize("is_known", [False, True])
def test_any_method_of_the_model_enters_it(is_known):
    leaf = Leaf()
    gan = Gan(leaf)
    leaf.root = (gan if is_known else None,)
    gan.fit(X)
    assert leaf.seen[0][:2] == ("generator.layers.0", "Gan")
    assert leaf.seen[0][4] == "gan.fit(X)"


@pytest.mark.parametrize("is_known", [False, True])
def test_a_method_that_a_library_runs_enters_the_model_where_it_calls_a_module(tmp_path, is_known):
    trainer = library(tmp_path, "def fit(model, x):\n    return model.fit(x)\n")
    leaf = Leaf()
    gan = Gan(leaf)
    leaf.root = (gan if is_known else None,)
    trainer.fit(gan, X)
    assert leaf.seen[0][:2] == ("generator.layers.0", "Gan")
    assert leaf.seen[0][4:] == ("self.generator(x)", None)


def test_recomputation_by_a_checkpoint_is_entered_at_the_backward_pass():
    leaf = Leaf()
    part = Block(leaf, nn.Linear(3, 1))
    out = checkpoint(part, X.clone().requires_grad_(), use_reentrant=False)
    out.sum().backward()
    assert [seen[0] for seen in leaf.seen] == ["layers.0", "layers.0"]
    assert leaf.seen[0][4].startswith("out = checkpoint(")
    assert leaf.seen[1][4] == "out.sum().backward()"


def test_a_module_that_has_a_length_of_none_is_a_module():
    leaf = Leaf()
    leaf.root = (nn.Sequential(),)
    Block(leaf)(X)
    assert leaf.seen[0][1] == "Sequential"
    with pytest.raises(NotImplementedError) as caught:
        nn.ModuleDict()(X)
    assert type(whereabouts(steps_of_traceback(caught.value.__traceback__)).module) is nn.ModuleDict


def test_in_a_thread_without_an_entry_nothing_is_claimed():
    leaf = Leaf()
    model = Block(leaf)
    thread = threading.Thread(target=model, args=(X,))
    thread.start()
    thread.join()
    assert leaf.seen[0][:3] == ("layers.0", "Block", "Leaf")
    assert leaf.seen[0][4] is None


def test_a_compiled_model_is_found_like_any_other():
    torch._dynamo.reset()
    model = torch.compile(Block(Failing()), backend="eager")
    with pytest.raises(RuntimeError) as caught:
        model(X)
    torch._dynamo.reset()
    found = whereabouts(steps_of_traceback(caught.value.__traceback__))
    assert line_of(found.entered_at).text == "model(X)"
    assert line_of(found.failed_at).text == 'raise RuntimeError("on purpose")'


def test_the_users_own_line_is_given_where_a_library_calls_the_model(tmp_path):
    trainer = library(tmp_path, "def fit(model, x):\n    return model(x)\n")
    leaf = Leaf()
    trainer.fit(Block(leaf), X)
    assert leaf.seen[0][4:] == ("return model(x)", "trainer.fit(Block(leaf), X)")


def test_a_traceback_that_was_caught_halfway_knows_the_frames_around_it():
    def loop(model):
        try:
            model(X)
        except RuntimeError as error:
            return whereabouts(steps_of_traceback(error.__traceback__)), len(
                steps_of_traceback(error.__traceback__)
            )

    found, count = loop(Block(Failing()))
    assert line_of(found.entered_at).text == "model(X)"
    assert count > len(steps_of_stack(sys._getframe()))


def test_the_path_follows_the_modules_that_were_called_where_one_is_shared():
    class Twice(nn.Module):
        def __init__(self, leaf):
            super().__init__()
            self.encoder, self.decoder = Block(leaf), Block(leaf)

        def forward(self, x):
            return self.decoder(self.encoder(x))

    leaf = Leaf()
    Twice(leaf)(X)
    assert [seen[0] for seen in leaf.seen] == ["encoder.layers.0", "decoder.layers.0"]


def test_modules_in_plain_lists_and_dictionaries_have_a_path():
    model = Block()
    model.blocks = [nn.Identity(), Block(nn.ReLU())]
    model.heads = {"main": nn.Linear(1, 1)}
    assert path_of(model.blocks[1].layers[0], model) == "blocks[1].layers.0"
    assert path_of(model.heads["main"], model) == 'heads["main"]'
    assert path_of(nn.ReLU(), model) == ""
    assert path_of(model, model) == ""


def test_a_replica_has_the_path_of_its_original():
    model = Block(nn.Linear(1, 1))
    replica = model.layers[0]._replicate_for_data_parallel()
    assert path_of(replica, model) == "layers.0"
    assert path_of(replica, DataParallel(model)) == "module.layers.0"
    assert path_of(nn.Linear(1, 1)._replicate_for_data_parallel(), model) == ""


def test_the_arguments_of_a_call_are_those_it_was_made_with():
    class Changing(nn.Module):
        def forward(self, x, *, mask=None):
            x, mask = x + 1, None
            raise RuntimeError(x, mask)

    module, mask = Changing(), torch.ones(1)
    with pytest.raises(RuntimeError) as caught:
        module(X, mask=mask)
    call: Any = call_of(steps_of_traceback(caught.value.__traceback__), module)
    args, kwargs = call
    assert args[0] is X
    assert kwargs["mask"] is mask


def test_of_a_forward_called_directly_the_arguments_are_their_present_values():
    class Taking(nn.Module):
        def forward(self, x, *others, bias=None, **options):
            raise RuntimeError

    module = Taking()
    with pytest.raises(RuntimeError) as caught:
        module.forward(X, 1, 2, bias=3, seed=4)
    steps = steps_of_traceback(caught.value.__traceback__)
    assert call_of(steps, module) == ((X, 1, 2), {"bias": 3, "seed": 4})
    assert call_of(steps, nn.Identity()) is None


def test_nothing_is_kept_alive_once_the_call_returns():
    class Batch:
        pass

    def step(model):
        batch = Batch()
        kept.append(weakref.ref(batch))
        model(X)
        del batch
        return kept[-1]()  # Without a copy of its variables in the frame it is gone by now.

    kept: list[weakref.ref[Batch]] = []
    gc.disable()
    try:
        assert step(Block(Leaf())) is None
    finally:
        gc.enable()


def test_variables_that_somebody_asked_for_stay_with_him():
    def function():
        value = 1
        mine = locals()
        assert values_of(sys._getframe())["value"] == value
        return mine

    assert function()["value"] == 1


def test_a_line_of_a_notebook_is_read_where_python_keeps_its_cells():
    name, source = "<cell 7>", "def run(model, x):\n    return model(x)\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {}
    exec(compile(source, name, "exec"), space)
    leaf = Leaf()
    try:
        space["run"](Block(leaf), X)
    finally:
        del linecache.cache[name]
    assert leaf.seen[0][4] == "return model(x)"


def test_a_path_is_given_from_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert short_path(str(tmp_path / "train.py")) == "train.py"
    assert short_path("/elsewhere/train.py") == "/elsewhere/train.py"
    assert short_path("<stdin>") == "<stdin>"


def test_a_current_folder_that_is_gone_is_no_reason_to_fail(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert short_path("/elsewhere/train.py") == "/elsewhere/train.py"
