"""Guards a child process of a guarded run, or gives it a GPU: imported when Python starts.

Every Python that a guarded program starts does, older ones too: nothing newer than Python 3.6 is
written here, and nothing that goes wrong may stop the child.
"""

import os
import sys

ASKING = ("RUNTIME_GUARD", "RUNTIME_GUARD_VIRTUAL_GPU")
FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH120 - pathlib would be imported


def _activate() -> None:
    """Activate the very package that the parent runs, wherever this process finds its own."""
    from importlib import util

    package = os.path.dirname(os.path.dirname(FOLDER))  # noqa: PTH120 - as above
    spec = util.spec_from_file_location(
        "runtime_guard",
        os.path.join(package, "__init__.py"),  # noqa: PTH118 - as above
        submodule_search_locations=[package],
    )
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["runtime_guard"] = module
    spec.loader.exec_module(module)
    from runtime_guard.launcher.activation import activate_from_environment

    activate_from_environment()


def _hand_over() -> None:
    """Import the `sitecustomize` that this one hides, and leave no trace on `sys.path`."""
    sys.path[:] = [entry for entry in sys.path if entry != FOLDER]
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


if any(os.environ.get(name) for name in ASKING) and sys.version_info >= (3, 10):
    try:
        _activate()
    except Exception as error:  # noqa: BLE001 - the child goes on, unguarded
        sys.modules.pop("runtime_guard", None)
        sys.stderr.write(f"runtime_guard: not in effect in this process: {error!r}\n")
_hand_over()
