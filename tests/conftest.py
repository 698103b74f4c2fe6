"""Generated tests are the same in every run; `--hypothesis-profile=explore` looks further."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", settings.get_profile("repeatable"), max_examples=5000, derandomize=False
)
settings.load_profile("repeatable")
