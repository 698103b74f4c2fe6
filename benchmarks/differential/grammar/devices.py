"""How a program chooses its device: the head, in each of the ways that people write it."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import HARD
from benchmarks.differential.grammar.registry import HEAD, feature
from benchmarks.differential.values import SECOND, Flag, Handle
from benchmarks.differential.writer import Writer

AVAILABLE = "torch.cuda.is_available()"


def _handle(writer: Writer, name: str = "device") -> None:
    writer.keep(Handle(name))


@feature("device-ternary", 30, HEAD)
def ternary(writer: Writer) -> None:
    """`torch.device("cuda" if torch.cuda.is_available() else "cpu")`."""
    name = writer.fresh("device")
    writer.line(f'{name} = torch.device("cuda" if {AVAILABLE} else "cpu")')
    _handle(writer, name)


@feature("device-string", 10, HEAD)
def string(writer: Writer) -> None:
    """A string."""
    name = writer.choose(["device", "dev", "DEVICE"])
    cuda = writer.choose(["cuda", "cuda:0"])
    writer.line(f'{name} = "{cuda}" if {AVAILABLE} else "cpu"')
    _handle(writer, name)


@feature("device-branches", 8, HEAD)
def branches(writer: Writer) -> None:
    """`if` and `elif`, one of them for each kind of machine."""
    writer.line(f"if {AVAILABLE}:")
    writer.line('    device = torch.device("cuda")')
    if writer.sometimes(50):
        writer.line("elif torch.backends.mps.is_available():")
        writer.line('    device = torch.device("mps")')
    writer.line("else:")
    writer.line('    device = torch.device("cpu")')
    _handle(writer)


@feature("device-flag", 15, HEAD)
def flag(writer: Writer) -> None:
    """A flag, and a device or none."""
    name = writer.choose(["use_cuda", "train_on_gpu", "cuda", "use_gpu"])
    value = writer.choose([AVAILABLE, f"True if {AVAILABLE} else False"])
    writer.line(f"{name} = {value}")
    writer.keep(Flag(name))
    if writer.likely(70):
        writer.line(f'device = torch.device("cuda" if {name} else "cpu")')
        _handle(writer)


@feature("device-arguments", 14, HEAD)
def arguments(writer: Writer) -> None:
    """An option of the command line."""
    writer.use("import argparse")
    writer.line("parser = argparse.ArgumentParser()")
    default = f'"cuda" if {AVAILABLE} else "cpu"'
    writer.line(f'parser.add_argument("--device", default={default})')
    if writer.sometimes(40):
        writer.line('parser.add_argument("--epochs", type=int, default=2)')
    writer.line("args = parser.parse_args()")
    if writer.likely(50):
        writer.line("device = torch.device(args.device)")
        _handle(writer)
    else:
        writer.keep(Handle("args.device"))


@feature("device-no-cuda-option", 8, HEAD)
def no_cuda(writer: Writer) -> None:
    """`--no-cuda`, and a flag made of it."""
    writer.use("import argparse")
    writer.line("parser = argparse.ArgumentParser()")
    option = writer.choose(['"--no-cuda"', '"--no_cuda"'])
    writer.line(f'parser.add_argument({option}, action="store_true", default=False)')
    writer.line("args = parser.parse_args()")
    name = writer.choose(["use_cuda", "args.cuda"])
    writer.line(f"{name} = not args.no_cuda and {AVAILABLE}")
    writer.keep(Flag(name))
    if writer.likely(70):
        writer.line(f'device = torch.device("cuda" if {name} else "cpu")')
        _handle(writer)


@feature("device-function", 8, HEAD)
def function(writer: Writer) -> None:
    """A function that chooses the device."""
    name = writer.choose(["get_device", "select_device"])
    with writer.definition():
        writer.line(f"def {name}():")
        if writer.likely(60):
            writer.lines(
                f"    if {AVAILABLE}:",
                '        return torch.device("cuda")',
                '    return torch.device("cpu")',
            )
        else:
            writer.line(f'    return "cuda" if {AVAILABLE} else "cpu"')
    writer.line(f"device = {name}()")
    _handle(writer)


@feature("device-settings", 8, HEAD)
def settings(writer: Writer) -> None:
    """A field of a dataclass of settings."""
    writer.use("from dataclasses import dataclass")
    with writer.definition():
        writer.line("@dataclass")
        writer.line("class Settings:")
        if writer.likely(60):
            writer.line("    epochs: int = 2")
        writer.line(f'    device: str = "cuda" if {AVAILABLE} else "cpu"')
    name = writer.choose(["settings", "config", "cfg"])
    writer.line(f"{name} = Settings()")
    writer.keep(Handle(f"{name}.device"))


@feature("device-dictionary", 4, HEAD)
def dictionary(writer: Writer) -> None:
    """An entry of a dictionary of settings."""
    name = writer.choose(["config", "params"])
    writer.line(f'{name} = {{"lr": 0.1, "device": "cuda" if {AVAILABLE} else "cpu"}}')
    writer.keep(Handle(f'{name}["device"]'))


@feature("device-number", 4, HEAD)
def number(writer: Writer) -> None:
    """A number of a GPU, put into a string."""
    writer.line("gpu = 0")
    writer.line(f'device = torch.device(f"cuda:{{gpu}}" if {AVAILABLE} else "cpu")')
    _handle(writer)


@feature("device-accelerator", 3, HEAD)
def accelerator(writer: Writer) -> None:
    """`torch.accelerator`."""
    asked = "torch.accelerator"
    writer.lines(
        f"if {asked}.is_available():",
        f"    device = {asked}.current_accelerator()",
        "else:",
        '    device = torch.device("cpu")',
    )
    _handle(writer)


@feature("device-try", 2, HEAD)
def tried(writer: Writer) -> None:
    """`try`, and the CPU where it fails."""
    writer.lines(
        "try:",
        "    torch.zeros(1).cuda()",
        '    device = torch.device("cuda")',
        "except (RuntimeError, AssertionError):",
        '    device = torch.device("cpu")',
    )
    _handle(writer)


@feature("device-hard-coded", 2, HEAD)
def hard_coded(writer: Writer) -> None:
    """`cuda`, whether or not there is one."""
    writer.traits[HARD] = True
    chosen = writer.choose(['"cuda"', 'torch.device("cuda:0")', 'torch.device("cuda", 0)'])
    writer.line(f"device = {chosen}")
    _handle(writer)


def second_device(writer: Writer) -> None:
    """A second device, which is the first one where there are less than two."""
    first = writer.handles("device")
    with writer.marked("second-device"):
        other = first[0] if first else f'torch.device("cuda" if {AVAILABLE} else "cpu")'
        writer.line(
            'second = torch.device("cuda:1") if torch.cuda.device_count() > 1 else ' + other
        )
        writer.keep(Handle("second", SECOND))
