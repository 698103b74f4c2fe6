"""Guards what a transformers Trainer runs: `Trainer(callbacks=[DeviceGuardCallback()])`."""

from runtime_guard.integrations.transformers import DeviceGuardCallback

__all__ = ["DeviceGuardCallback"]
