"""What a guard is told, and what the environment's variables say of it."""

import pytest

from runtime_guard.settings import (
    Environment,
    Settings,
    from_environment,
    mode_of,
    settings_from,
    to_environment,
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"action": "rise"}, "action is 'rise': expected one of 'raise', 'warn', 'move'"),
        ({"steps": 0}, "steps is 0: expected a whole number, 1 or more"),
        ({"steps": True}, "steps is True: expected a whole number, 1 or more"),
        ({"every": 1.5}, "every is 1.5: expected a whole number, 1 or more"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        settings_from(**options)


def test_only_and_skip_are_patterns_of_paths():
    settings = settings_from(only="encoder.*, head", skip=["encoder.norm"])
    paths = ["", "encoder", "encoder.norm", "encoder.0", "head"]
    assert [path for path in paths if settings.chooses(path)] == ["encoder.0", "head"]
    assert Settings().chooses("")


def test_an_environment_without_the_variable_asks_for_nothing():
    assert from_environment({}) is None
    assert from_environment({"RUNTIME_GUARD": " ", "RUNTIME_GUARD_STEPS": "x"}) is None


@pytest.mark.parametrize(
    ("mode", "action"),
    [
        ("check", "raise"),
        ("warn", "warn"),
        ("move", "move"),
        ("EXPLAIN", "raise"),
        ("off", "raise"),
    ],
)
def test_a_mode_names_an_action(mode, action):
    asked = from_environment({"RUNTIME_GUARD": mode})
    assert asked is not None
    assert (asked.mode, asked.settings.action) == (mode.lower(), action)


def test_children_read_what_the_parent_wrote():
    settings = Settings("warn", 3, 2, ("a.*", "b"), ("c",), meta=True)
    asked = Environment(mode_of(settings.action), settings, "run.jsonl")
    assert from_environment(to_environment(asked)) == asked
    assert to_environment(Environment("check")) == {
        "RUNTIME_GUARD": "check",
        "RUNTIME_GUARD_EVERY": "1",
    }


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"RUNTIME_GUARD": "cehck"},
            "RUNTIME_GUARD is 'cehck': expected one of check, explain, warn, move, off",
        ),
        (
            {"RUNTIME_GUARD": "check", "RUNTIME_GUARD_STEPS": "-3"},
            "RUNTIME_GUARD_STEPS is '-3': expected a whole number, 1 or more",
        ),
        (
            {"RUNTIME_GUARD": "warn", "RUNTIME_GUARD_EVERY": "two"},
            "RUNTIME_GUARD_EVERY is 'two': expected a whole number, 1 or more",
        ),
    ],
)
def test_a_variable_that_cannot_be_is_named(variables, message):
    with pytest.raises(ValueError, match=message):
        from_environment(variables)
