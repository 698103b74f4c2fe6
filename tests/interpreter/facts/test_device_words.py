"""Which words mean a device: those of an identifier count whole."""

from __future__ import annotations

import libcst as cst
import pytest

from devicelint.interpreter.facts.device_words import (
    holds_device,
    is_cpu,
    is_device_option,
    means_accelerator,
    names_device_type,
    takes_device,
    words_of,
)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("useCuda", ("use", "cuda")),
        ("n_gpus", ("n", "gpus")),
        ("numGPUs", ("num", "gpus")),
        ("GPUIndex", ("gpu", "index")),
        ("--no-cuda", ("no", "cuda")),
        ("cuda:0", ("cuda",)),
        ("input", ("input",)),
    ],
)
def test_an_identifier_is_split_at_underscores_digits_and_case(identifier, words):
    assert words_of(identifier) == words


@pytest.mark.parametrize("name", ["use_cuda", "ngpus", "mps", "is_xpu_available", "Accelerator"])
def test_accelerators(name):
    assert means_accelerator(name)


@pytest.mark.parametrize("name", ["input", "output", "dumps", "cpu_count", "delay", "resume"])
def test_words_that_only_look_like_accelerators(name):
    assert not means_accelerator(name)


def test_types_of_devices():
    assert names_device_type("meta")
    assert names_device_type("cuda:1")
    assert not names_device_type("train test")


@pytest.mark.parametrize("path", ["self.dev", "args.local_rank", "device_ids", "cfg.gpu"])
def test_names_for_devices(path):
    assert holds_device(path)


@pytest.mark.parametrize("path", ["device.parts", "development", "franking", "self.dtype"])
def test_names_for_other_things(path):
    assert not holds_device(path)


def test_functions_that_take_devices():
    assert all(map(takes_device, ("to", "cuda", "set_device", "toDevice")))
    assert not any(map(takes_device, ("tool", "print")))


@pytest.mark.parametrize("option", ["device", "no_cuda", "use_gpu", "gpus", "device_ids", "accel"])
def test_options_that_choose_a_device(option):
    assert is_device_option(option)


@pytest.mark.parametrize("option", ["cuda_version", "epochs", "use", "id"])
def test_other_options(option):
    assert not is_device_option(option)


def test_expressions():
    assert is_cpu(cst.parse_expression('torch.device("cpu")'))
    assert not is_cpu(cst.parse_expression('torch.device("cuda")'))
