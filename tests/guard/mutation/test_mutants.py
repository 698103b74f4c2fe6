"""Training loops with one move forgotten: the guard, or the note on torch's error, says which.

They run on the virtual GPU; what is expected stands in the loops (see `mutants`).
"""

from __future__ import annotations

import re
import warnings
from contextlib import ExitStack

import pytest

import runtime_guard
from runtime_guard import DeviceMismatchError, PlacementWarning
from runtime_guard.messages.explain import annotate
from tests.guard.advice import advices_of, follow
from tests.guard.mutants import LOOPS, Mutant, Place, load, read
from tests.guard.notes import note_of

ALL = [read(path) for path in LOOPS]
FORGOTTEN = [(loop, mutant) for loop in ALL for mutant in loop.mutants.values() if not mutant.same]
HARMLESS = [(loop, mutant) for loop in ALL for mutant in loop.mutants.values() if mutant.same]

each_loop = pytest.mark.parametrize("loop", ALL, ids=lambda loop: loop.path.stem)
each_way = pytest.mark.parametrize("way", ["install", "guard", "explain"])


def each_of(mutants):
    return pytest.mark.parametrize(
        ("loop", "mutant"), mutants, ids=[mutant.name for _, mutant in mutants]
    )


@pytest.fixture
def train(tmp_path):
    """Runs the source of a loop under a guard: what it found, and the error that ended the loop."""

    def train_it(text: str, name: str, way: str, device: str = "cuda"):
        module = load(text, tmp_path / name)
        handles = []
        try:
            with ExitStack() as stack:
                if device == "cuda":
                    stack.enter_context(runtime_guard.virtual_gpu())

                def guard(handle):
                    handles.append(handle)
                    stack.enter_context(handle)

                if way == "install":
                    guard(runtime_guard.install())
                vars(module)["_guard"] = lambda model: guard(runtime_guard.guard(model))
                module.train(device)
        except (RuntimeError, TypeError, IndexError) as error:
            annotate(error)
            return handles, error
        return handles, None

    return train_it


@each_way
@each_loop
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_loop_that_moves_everything_trains_without_a_word(loop, way, device, train, capfd):
    text = loop.text(guarded=way == "guard")
    handles, error = train(text, loop.path.name, way, device)
    assert error is None
    assert way == "explain" or handles
    assert [handle.mismatches for handle in handles] == [[] for _ in handles]
    assert "runtime_guard" not in "".join(capfd.readouterr())


@each_way
@each_of(HARMLESS)
def test_a_move_that_an_accelerator_can_do_without_is_not_missed(loop, mutant, way, train):
    handles, error = train(loop.text(mutant, guarded=way == "guard"), loop.path.name, way)
    assert error is None
    assert [handle.mismatches for handle in handles] == [[] for _ in handles]


@each_way
@each_of(FORGOTTEN)
def test_a_forgotten_move_is_found(loop, mutant, way, train, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = loop.text(mutant, guarded=way == "guard")
    error, story = story_of(train, text, loop.path.name, way)
    assert error is not None
    if mutant.raises:
        failed, names = mutant.raises
        listed = re.findall(r"(?<= on )[\w:]+: (.+?)(?= on [\w:]+: |$)", story)
        told = {name for names in listed for name in names.split(", ")} | {row_of(story)}
        assert set(names) <= told, story
    else:
        place = expected_place(mutant, way, error)
        failed = place.line
        assert headed(story, place, way), story
    assert f"failed at: {loop.path.name}:{failed}:" in story, story
    if mutant.entered not in (None, failed):
        assert f"entered at: {loop.path.name}:{mutant.entered}:" in story, story
    for advice in advices_of(story) or [""]:
        helpful = rf"(^|\W){re.escape(mutant.fix)}\W|{loop.path.name}:{mutant.move.line}\b"
        assert re.search(helpful, advice), story


@pytest.mark.parametrize("way", ["install", "explain"])
@each_of(FORGOTTEN)
def test_following_the_advice_cures_it(loop, mutant, way, train, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = loop.text(mutant, guarded=way == "guard")
    faults: set[str] = set()
    # What was moved together is missed together, and found one after the other.
    for turn in range(4):
        error, story = story_of(train, text, f"turn{turn}_{loop.path.name}", way)
        if error is None:
            break
        fault = re.sub(r"turn\d_|:\d+", "", story.partition(" to fix it: ")[0])
        assert fault not in faults, f"the advice did not help: {story}"
        faults.add(fault)
        failed = re.findall(r"failed at: \S+:(\d+):", story)
        for advice in advices_of(story):
            text = follow(text, advice, int(failed[0]))
    assert error is None, story
    assert faults


def story_of(train, text: str, name: str, way: str) -> tuple[BaseException | None, str]:
    """The error, and what the user reads of it, in one line."""
    with warnings.catch_warnings():
        # That a part of the model stayed behind is said before training begins.
        warnings.simplefilter("ignore", PlacementWarning)
        _, error = train(text, name, way)
    if error is None:
        return None, ""
    if isinstance(error, DeviceMismatchError):
        return error, " ".join(str(error).split())
    return error, " ".join(note_of(error).split()).removeprefix("runtime_guard: ")


def expected_place(mutant: Mutant, way: str, error: BaseException) -> Place:
    checked = isinstance(error, DeviceMismatchError)
    if way == "install" and mutant.fails:
        assert checked
    place = (mutant.fails if checked else mutant.explained) or mutant.explained or mutant.fails
    assert place is not None
    return place


def headed(story: str, place: Place, way: str) -> bool:
    above = f"{place.above}" if way == "guard" else ""
    path = f"{above}{place.path} ({place.kind})" if place.path else place.kind
    return story.startswith(f"{path} has ") and f" {place.argument}: " in story


def row_of(story: str) -> str:
    """The tensor of a note that names but one."""
    match = re.match(r"`(.+)` is on ", story)
    return match[1] if match else ""


def test_there_are_enough_of_them():
    assert len(ALL) >= 14
    assert len(FORGOTTEN) >= 40


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = x.to(device)\n", "without a letter"),
        ("x = x.to(device)  # move A\n", "one of the three"),
        ("x = x.to(device)  # move A B\n", "1 moves here"),
        ("x = x.to(device)  # move A\ny(x)  # fails A: fc (Linear) input\n", "what helps"),
        ("x = x.to(device)  # move A; same A: why\ny(x)  # raises A: x\n", "one of the three"),
    ],
)
def test_a_loop_that_does_not_say_what_to_expect_is_no_test(text, complaint, tmp_path):
    path = tmp_path / "loop.py"
    path.write_text(text)
    with pytest.raises(AssertionError, match=complaint):
        read(path)


@pytest.mark.parametrize(
    ("move", "left"),
    [
        ("x = x.to(device)", "x = x"),
        ("x = x.to(device, non_blocking=True).float()", "x = x.float()"),
        ("x = torch.zeros(3, device=device).t()", "x = torch.zeros(3).t()"),
        ("x = Net(device=y.device)", "x = Net()"),
        ("x = to_device(batch, device)", "x = batch"),
        ("x = y.cpu().numpy()", "x = y.numpy()"),
    ],
)
def test_a_mutant_lacks_the_move_and_nothing_else(move, left, tmp_path):
    path = tmp_path / "loop.py"
    path.write_text(f"# same A: x\n{move}  # move A\n")
    loop = read(path)
    assert loop.text() == f"\n{move}\n"
    assert loop.text(loop.mutants["A"]) == f"\n{left}\n"
