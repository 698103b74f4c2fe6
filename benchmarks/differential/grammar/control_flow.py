"""Branches, loops, `try` and `with`, and conditions that have to do with devices."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, device_text
from benchmarks.differential.grammar.registry import can_nest, feature, fill
from benchmarks.differential.grammar.tensors import expression, make, pick, result
from benchmarks.differential.values import BATCH, DEVICE, HOST, WIDTH, Flag, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)


def _condition(writer: Writer) -> str:
    """A condition of any kind."""
    one = pick(writer)
    conditions = [
        f"{one.text}.is_cuda",
        "torch.cuda.is_available()",
        f"isinstance({one.text}, torch.Tensor)",
        f"{one.text}.dim() > 1",
        f"{one.text} is not None",
        f'{one.text}.device.type == "cuda"',
        f"torch.is_tensor({one.text})",
        f"{one.text}.requires_grad",
        f"{one.text}.size(0) == {BATCH}",
        "torch.is_grad_enabled()",
        f"{one.text}.sum().item() > 0",
    ]
    flags = writer.values(Flag)
    if flags:
        conditions += [flags[0].text, f"not {flags[0].text}"]
    return writer.choose(conditions)


@feature("if", 9, ready=can_nest)
def if_(writer: Writer) -> None:
    """A branch, with and without `else`."""
    with writer.block(f"if {_condition(writer)}:"):
        fill(writer, 2)
    if writer.sometimes(40) and not writer.full:
        with writer.block("else:"):
            fill(writer, 2)


@feature("if-moves", 10)
def if_moves(writer: Writer) -> None:
    """A tensor that is moved in a branch."""
    one = make(writer, Tensor("", MAIN, side=HOST), "data")
    writer.drop(one)
    device = device_text(writer)
    cuda = "torch.cuda.is_available()"
    flags = writer.values(Flag)
    if flags and writer.likely(70):
        cuda = flags[0].text
    like = pick(writer, MAIN)
    right = [
        (
            f"if {cuda}:",
            "{0} = {0}.cuda()"
            if like.side == DEVICE and writer.likely(60)
            else f"{{0}} = {{0}}.to({device})",
        ),
        (f"if {like.text}.is_cuda:", f"{{0}} = {{0}}.to({like.text}.device)"),
        (f"if {{0}}.device != {like.text}.device:", f"{{0}} = {{0}}.to({like.text}.device)"),
        ("if not {0}.is_cuda:", f"{{0}} = {{0}}.to({like.text}.device)"),
    ]
    wrong = [
        (f"if not {cuda}:", f"{{0}} = {{0}}.to({device})"),
        ("if {0}.is_cuda:", f"{{0}} = {{0}}.to({device})"),
        (f"if {like.text}.requires_grad:", f"{{0}} = {{0}}.to({device})"),
    ]
    header, move = writer.choose(right if writer.careful() else wrong)
    with writer.block(header.format(one.text)):
        writer.line(move.format(one.text))
    result(writer, f"{one.text} * {like.text}", like, grad=True)


@feature("chosen-in-branches", 7)
def chosen_in_branches(writer: Writer) -> None:
    """A tensor that each branch makes."""
    name = writer.fresh("chosen_values")
    with writer.block(f"if {_condition(writer)}:"):
        writer.line(f"{name} = {created(writer, Tensor('', MAIN))}")
    with writer.block("else:"):
        writer.line(f"{name} = {created(writer, Tensor('', MAIN))}")
    one = writer.keep(Tensor(name, MAIN))
    result(writer, f"{one.text} + {expression(writer, MAIN)}", one, grad=True)


@feature("conditional-expression", 6)
def conditional_expression(writer: Writer) -> None:
    """`a if … else b`."""
    condition = _condition(writer)
    one, other = expression(writer, MAIN), expression(writer, MAIN)
    text = f"({one} if {condition} else {other}) * {expression(writer, MAIN)}"
    result(writer, text, Tensor("", MAIN), grad=True)


@feature("is-none", 7)
def is_none(writer: Writer) -> None:
    """A value that is None until somebody makes it."""
    name = writer.fresh("optional")
    writer.line(f"{name} = None")
    if writer.sometimes(40):
        with writer.block(f"if {_condition(writer)}:"):
            writer.line(f"{name} = {created(writer, Tensor('', MAIN))}")
    with writer.block(f"if {name} is None:"):
        writer.line(f"{name} = {created(writer, Tensor('', MAIN))}")
    result(writer, f"{name} * {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("loop", 9, ready=can_nest)
def loop(writer: Writer) -> None:
    """A `for` loop; what it makes is forgotten."""
    headers = [
        "for step in range(2):",
        "for epoch in range(1, 3):",
        'for name in ("train", "val"):',
    ]
    with writer.block(writer.choose(headers)):
        fill(writer, 3)
        if writer.sometimes(20):
            writer.line("continue")


@feature("loop-carried", 8)
def loop_carried(writer: Writer) -> None:
    """A value that each round of a loop makes of the one before."""
    state = make(writer, Tensor("", MAIN), "state")
    writer.drop(state)
    other = expression(writer, MAIN)
    with writer.block(f"for step in range({writer.number(2, 3)}):"):
        changes = [
            f"{state.text} = 0.5 * {state.text} + {other}",
            f"{state.text} = torch.tanh({state.text} * {other})",
            f"{state.text} = torch.maximum({state.text}, {other})",
        ]
        writer.line(writer.choose(changes))
        if writer.sometimes(35):
            with writer.block("if step == 1:"):
                writer.line(writer.choose([f"{state.text} = {state.text}.detach()", "break"]))
    writer.keep(Tensor(state.text, MAIN, grad=True))


@feature("while", 6)
def while_(writer: Writer) -> None:
    """A `while` loop, which counts or looks at a tensor."""
    state = make(writer, Tensor("", MAIN), "current")
    writer.drop(state)
    count = writer.fresh("rounds_left")
    writer.line(f"{count} = 2")
    with writer.block(f"while {count} > 0:"):
        writer.line(f"{state.text} = {state.text} + {expression(writer, MAIN)}")
        writer.line(f"{count} -= 1")
        if writer.sometimes(30):
            with writer.block(f"if {state.text}.sum() > 1000:"):
                writer.line("break")
    writer.keep(Tensor(state.text, MAIN, grad=True))


@feature("try", 7, ready=can_nest)
def try_(writer: Writer) -> None:
    """`try`, with what else belongs to it; an error of a device is not caught."""
    with writer.block("try:"):
        fill(writer, 2)
    if writer.likely(60):
        with writer.block(
            writer.choose(["except KeyError:", "except (OSError, ImportError) as error:"])
        ):
            writer.line("pass" if writer.likely(50) else 'print("failed")')
        if writer.sometimes(30):
            with writer.block("else:"):
                fill(writer, 1)
    if writer.frame.lines[-1][0].strip() not in {"pass", 'print("failed")'} or writer.sometimes(30):
        with writer.block("finally:"):
            fill(writer, 1)


@feature("try-fallback", 3)
def try_fallback(writer: Writer) -> None:
    """A dictionary without a key, and what is made in its place."""
    name, kept = writer.fresh("looked_up"), writer.fresh("store")
    writer.line(f"{kept} = {{}}")
    with writer.block("try:"):
        writer.line(f'{name} = {kept}["rows"]')
    with writer.block("except KeyError:"):
        writer.line(f"{name} = {created(writer, Tensor('', MAIN))}")
    result(writer, f"{name} * {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("with-no-grad", 7, ready=can_nest)
def with_no_grad(writer: Writer) -> None:
    """`torch.no_grad()`, and a body."""
    contexts = ["torch.no_grad()", "torch.set_grad_enabled(False)", "torch.enable_grad()"]
    with writer.block(f"with {writer.choose(contexts)}:"), writer.as_function():
        fill(writer, 3)


@feature("with-own-context", 4, BODY, ready=can_nest)
def with_own_context(writer: Writer) -> None:
    """A context that the program defines, which gives a tensor."""
    writer.use("from contextlib import contextmanager")
    name = writer.fresh("scaled_by")
    with writer.definition():
        writer.lines(
            "@contextmanager",
            f"def {name}(tensor):",
            "    yield tensor * 2",
        )
    given = expression(writer, MAIN)
    with writer.block(f"with {name}({given}) as doubled:"):
        writer.keep(Tensor("doubled", MAIN, grad=True))
        fill(writer, 2)


@feature("with-default-device", 6)
def with_default_device(writer: Writer) -> None:
    """`with torch.device(…)`, in which factories follow it."""
    name = writer.fresh("inside")
    right = device_text(writer)
    context = (
        f"torch.device({right})" if right.startswith(('"', "args", "config", "settings")) else right
    )
    if not right.startswith("torch.device("):
        context = f"torch.device({right})"
    with writer.block(f"with {context}:"):
        writer.line(f"{name} = torch.ones({BATCH}, {WIDTH})")
    if not writer.careful():
        writer.line(f"{name} = torch.ones({BATCH}, {WIDTH})")
    result(writer, f"{name} + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("asserted", 4)
def asserted(writer: Writer) -> None:
    """What a program is sure of."""
    one = pick(writer, MAIN)
    sure = [
        f"assert {one.text}.shape == ({BATCH}, {WIDTH})",
        f"assert {one.text} is not None",
        f"assert isinstance({one.text}, torch.Tensor)",
        f"assert {one.text}.device == {one.text}.device",
    ]
    writer.line(writer.choose(sure))
    result(writer, f"{one.text} * {expression(writer, MAIN)}", one, grad=True)


@feature("walrus", 3)
def walrus(writer: Writer) -> None:
    """`:=` in a condition."""
    name = writer.fresh("found_sum")
    one, other = expression(writer, MAIN), expression(writer, MAIN)
    with writer.block(f"if ({name} := ({one} + {other}).sum()) is not None:"):
        writer.keep(Tensor(name, (), grad=True))
        result(writer, f"{name} * {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("match", 2)
def match(writer: Writer) -> None:
    """`match` on a word."""
    name, word = writer.fresh("matched"), writer.fresh("mode")
    writer.line(f'{word} = "{writer.choose(["zeros", "ones"])}"')
    with writer.block(f"match {word}:"):
        with writer.block('case "zeros":'):
            writer.line(f"{name} = {created(writer, Tensor('', MAIN))}")
        with writer.block("case _:"):
            writer.line(f"{name} = {created(writer, Tensor('', MAIN))}")
    result(writer, f"{name} - {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)
