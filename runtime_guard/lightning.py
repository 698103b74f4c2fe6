"""Guards what Lightning runs: a `Callback` for `Trainer(callbacks=[DeviceGuard()])`."""

from runtime_guard.integrations.lightning import DeviceGuard

__all__ = ["DeviceGuard"]
