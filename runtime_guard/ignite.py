"""Guards what an ignite engine runs: `DeviceGuard(model).attach(engine)`."""

from runtime_guard.integrations.ignite import DeviceGuard

__all__ = ["DeviceGuard"]
