"""The hooks of pytest that put something into effect around each test, as its marker asks."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import pytest

if TYPE_CHECKING:
    from typing_extensions import Self


class Effect(Protocol):
    """What a test runs under: in effect in a `with` block around its setup, call and teardown.

    Attributes:
        refused: why the test's marker makes no sense; empty if it does.
    """

    refused: str

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: Any) -> None: ...

    def explain(self, error: BaseException) -> None:
        """Explain what made the test fail, while what it ran under is still there."""


E = TypeVar("E", bound=Effect)


class MarkedRun(Generic[E]):
    """A plugin that holds for one run.

    Args:
        key: where the stash of an item holds what is in effect for it.
    """

    def __init__(self, key: pytest.StashKey[E]) -> None:
        self._key = key

    def effect_for(self, item: pytest.Item) -> E:
        """What the test's nearest marker asks for, or else the run."""
        raise NotImplementedError

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Refuse markers that cannot be understood, before any test has run."""
        if hasattr(session.config, "workerinput"):
            # xdist takes a worker that ends here for a crash, and does not say why it ended.
            return
        for item in session.items:
            if refused := self.effect_for(item).refused:
                raise pytest.UsageError(f"{item.nodeid}: {refused}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Put it into effect around the test, its setup and its teardown."""
        effect = item.stash[self._key] = self.effect_for(item)
        try:
            with effect:
                return (yield)
        finally:
            # Items live as long as the run; what an effect knows, models too, need not.
            del item.stash[self._key]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fail a test whose marker makes no sense: in a worker, or marked after collection."""
        effect = item.stash.get(self._key, None)
        if effect is not None and effect.refused:
            pytest.fail(effect.refused, pytrace=False)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Explain the error, when unittest's has been brought and before pytest writes it down."""
        effect = item.stash.get(self._key, None)
        if effect is not None and call.excinfo is not None:
            effect.explain(call.excinfo.value)
