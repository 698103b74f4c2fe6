"""The suites that other packages bring, and how each of them is run."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SUITES = Path(__file__).with_name("suites.toml")


@dataclass(frozen=True)
class Suite:
    """Tests of a package.

    Attributes:
        name: the package.
        repository: as `owner/name`.
        tests: files and folders, from `folder`.
        sources: where its packages lie in the repository.
        folder: where its tests are run.
        device: options that send the tests down their path for CUDA.
        on_device: variables of the environment that do.
        environment: variables that the tests need anywhere.
        own: what is known to fail on any machine with CUDA, or now and then on any: why, by a part
            of its name.
        installed: whether the package itself has to be installed, as it is built.
        never_tried: whether it was named before anything of it was run.
    """

    name: str
    repository: str
    tests: list[str]
    sources: str = "."
    folder: str = "."
    device: list[str] = field(default_factory=list)
    on_device: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    installed: bool = False
    never_tried: bool = False


def suites(path: Path = SUITES) -> list[Suite]:
    """The suites of a file, in its order."""
    return [Suite(**entry) for entry in tomllib.loads(path.read_text("utf-8"))["suite"]]


def command(suite: Suite, tests: list[str], *, on_device: bool) -> list[str]:
    """What runs tests of a suite, quietly, whatever their order is otherwise."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    words += ["--continue-on-collection-errors", "-W", "ignore", *tests]
    return [*words, "--virtual-gpu=1", *suite.device] if on_device else words


def environment(suite: Suite, checkout: Path, *, on_device: bool) -> dict[str, str]:
    """The environment in which they find their package, and devicelint."""
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    paths = [str(ROOT)] if suite.installed else [str(checkout / suite.sources), str(ROOT)]
    environ["PYTHONPATH"] = os.pathsep.join([*paths, environ.get("PYTHONPATH", "")])
    return environ | suite.environment | (suite.on_device if on_device else {})
