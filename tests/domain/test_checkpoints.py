"""Which files are read that a project has written, and where these were saved from."""

from devicelint.domain.checkpoints import ReadFile, WrittenFile
from devicelint.domain.devices import CPU, Known, Unsure

CUDA = Known("cuda")


def test_a_file_is_known_by_its_name() -> None:
    written = WrittenFile("*_net.pt", frozenset({CPU}))
    assert ReadFile("best_net.pt").may_be(written)
    assert ReadFile("*.pt").may_be(written)
    assert ReadFile(None).may_be(written)
    assert not ReadFile("best.state").may_be(written)


def test_a_file_is_known_by_its_keys() -> None:
    states = WrittenFile(None, frozenset({CUDA}), frozenset({"epoch", "optimizer"}))
    assert ReadFile(None, frozenset({"optimizer", "scaler"})).may_be(states)
    assert not ReadFile(None, frozenset({"params"})).may_be(states)
    assert ReadFile(None).may_be(states)


def test_all_that_may_be_read_has_to_be_on_the_cpu() -> None:
    read = ReadFile("model.pt")
    from_the_cpu = WrittenFile("*.pt", frozenset({CPU}))
    assert read.is_from_the_cpu([from_the_cpu, WrittenFile("*.state", frozenset({CUDA}))])
    assert not read.is_from_the_cpu([from_the_cpu, WrittenFile("model.pt", frozenset({None}))])
    assert not read.is_from_the_cpu([])


def test_what_is_not_seen_is_not_known_to_be_elsewhere() -> None:
    assert WrittenFile(None, frozenset({CPU, CUDA})).is_from_elsewhere
    assert not WrittenFile(None, frozenset({CPU, None})).is_from_elsewhere
    assert not WrittenFile(None, frozenset({Unsure("it comes from outside")})).is_from_elsewhere


def test_who_moves_models_to_the_cpu_means_all_of_their_files() -> None:
    brought = WrittenFile("*_*.pt", frozenset({CPU}), is_brought=True)
    unseen = WrittenFile("*_*.pt", frozenset({None}), frozenset())
    training = WrittenFile("*_*.pt", frozenset({None}), frozenset({"epoch", "optimizer"}))
    assert ReadFile(None).is_from_the_cpu([brought, unseen, training])
    assert not ReadFile(None).is_from_the_cpu([brought, WrittenFile(None, frozenset({CUDA}))])
    assert not ReadFile(None, frozenset({"optimizer"})).is_from_the_cpu([brought, training])
