"""Guards what a skorch net trains: `NeuralNet(..., callbacks=[DeviceGuard()])`."""

from runtime_guard.integrations.skorch import DeviceGuard

__all__ = ["DeviceGuard"]
