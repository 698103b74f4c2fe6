"""What the text of a function says of its parameters: which of them are tensors.

Only what nothing but a tensor has counts: `x.unsqueeze(0)`, `torch.exp(x)`, a docstring that says
so.  An array has a shape, a module has a `float()`, a frame of pandas has a `sum()`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from devicelint.knowledge import Role, function

TENSOR_METHODS = frozenset(
    "size dim nelement numel unsqueeze unsqueeze_ permute contiguous detach detach_ expand "
    "expand_as long bool new new_zeros new_ones new_tensor new_full new_empty masked_fill "
    "masked_fill_ masked_select masked_scatter softmax log_softmax t matmul bmm mm mv gather "
    "scatter scatter_ scatter_add scatter_add_ index_select index_add index_add_ index_copy_ "
    "index_fill_ narrow unbind repeat_interleave type_as view view_as reshape_as chunk topk "
    "sigmoid sigmoid_ tanh exp log sqrt rsqrt relu relu_ clamp clamp_ clamp_min clamp_max addmm "
    "baddbmm neg triu tril flip fill_ zero_ add_ mul_ div_ sub_ copy_ normal_ uniform_ "
    "element_size data_ptr is_contiguous is_floating_point backward retain_grad is_sparse "
    "to_dense coalesce logsumexp erf log1p expm1 fmod unfold movedim "
    "index_put_".split()
)
"""Methods that torch's tensors have, and arrays, frames and modules do not."""
_TENSOR_ATTRIBUTES = frozenset({"is_cuda", "grad_fn", "is_leaf", "mT"})

_PATH = r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[-?\w+\])*)"
_METHOD = re.compile(
    rf"(?<![\w.\])]){_PATH}(?:\.(?:clone|float|squeeze|flatten|reshape|data|T|int|double|abs)"
    rf"(?:\([^()]*\))?)?\.(?:(?:{'|'.join(sorted(TENSOR_METHODS))})\(|"
    rf"(?:{'|'.join(sorted(_TENSOR_ATTRIBUTES))})\b)"
)
_FUNCTION = re.compile(rf"\b(torch|F|nn\.functional)\.(\w+)\(\s*{_PATH}\s*[,)]")
_SLICED = re.compile(rf"(?<![\w.\])]){_PATH}\[(?:\.\.\.|[\w:]*:[\w:]*|None)\s*,")
_NUMPY = re.compile(r"\b(?:np|numpy|cv2|pd)\.")
"""Arrays, too, are sliced in several dimensions."""
_RECKONED = r"(?<![\w.]){0}\s*(?:[-+/@]|\*(?!\*))(?!=)|[-+/@]\s*{0}\b(?!\s*[.\[(])"
_STATISTICS = re.compile(rf"(?<![\w.\])]){_PATH}\.running_(?:var|mean)\b")
"""Only a normalization has these, and then its weight and bias are tensors, too."""
_DOUBT = re.compile(rf"\b(?:isinstance|type|is_tensor|hasattr|getattr)\(\s*{_PATH}\s*[,)]")
_RANKED = re.compile(
    rf"(?<![\w.\])]){_PATH}(?:\.size\(\s*-?\d|\.shape\[|\.unique\()|\blen\(\s*{_PATH}\s*\)"
    rf"|(?<![\w.\])]){_PATH}\[(?!['\"\w])"
)
_MATRIX = re.compile(
    rf"(?<![\w.\])]){_PATH}(?:\.size\(\s*[1-9]|\.shape\[[1-9]|\.t\(\)|\[\s*:\s*,|\[\.\.\.,)"
    rf"|^[ \t]*\w+, *\w+ *= *{_PATH}[ \t]*$",
    re.MULTILINE,
)
_NAMES = r"([\w,. *]{1,160})"
_REBOUND = re.compile(
    rf"^[ \t]*(?:(?:async )?for [(]?{_NAMES}[)]? in "
    rf"|{_NAMES}(?::[^=\n]{{0,60}})?=(?!=)(?!.*,[ \t]*$))",
    re.MULTILINE,
)
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
_TENSOR = r"(?:torch\s*\.\s*)?(?:Float|Double|Half|Long|Int|Bool|Byte|Short)?Tensor"
_SAID = re.compile(
    rf"^\s*(\w+)\s*(?:\(|:\s*)(?::\w+:)?[`~]*{_TENSOR}`*(?:[,.][^\n]*|\)?\s*:?[^\n|]*)?$",
    re.MULTILINE,
)
_ALTERNATIVE = re.compile(
    r"ndarray|numpy|\blist\b|\bor\b|\bint\b|\bfloat\b|sequence|\btuple\b|str\b|\|", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The origins that are tensors by a function's text, and those that it is itself unsure of."""

    tensors: frozenset[str]
    doubted: frozenset[str]
    ranked: frozenset[str]
    """Those that have a dimension, where they are tensors."""
    matrices: frozenset[str]
    """Those that have two dimensions at least."""
    documented: frozenset[str]
    """The parameters of which the docstring says so."""


@functools.lru_cache(maxsize=500)
def evidence_in(code: str, names: frozenset[str], first: str = "") -> Evidence:
    """What the text of a function says of the paths that begin with one of the names.

    `first` is the first input of a Module: where it is reckoned with, it is a tensor.
    """
    doubted = frozenset(m[1] for m in _DOUBT.finditer(code) if _root(m[1]) in names)
    until = {**dict.fromkeys(names, len(code)), **_first_rebound(code, names)}
    treated = {
        path for path, start in _treated_as_tensors(code) if start <= until.get(_root(path), -1)
    }
    if first and re.search(_RECKONED.format(re.escape(first)), code):
        treated.add(first)
    said = {m[1] for m in _SAID.finditer(code) if m[1] in names and not _ALTERNATIVE.search(m[0])}
    return Evidence(
        frozenset(treated | said),
        doubted,
        _found(_RANKED, code),
        _found(_MATRIX, code),
        frozenset(said),
    )


def _found(pattern: re.Pattern[str], code: str) -> frozenset[str]:
    return frozenset(match[match.lastindex or 0] for match in pattern.finditer(code))


def _root(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _first_rebound(code: str, names: Collection[str]) -> Mapping[str, int]:
    """Where the first line ends that gives a name another value, for the names that get one."""
    ends: dict[str, int] = {}
    for found in _REBOUND.finditer(code, max(code.find(":\n"), 0)):
        end = code.find("\n", found.end())
        for name in _NAME.findall(found[1] or found[2]):
            if name in names:
                ends.setdefault(name, len(code) if end < 0 else end)
    return ends


def _treated_as_tensors(code: str) -> Iterator[tuple[str, int]]:
    for found in _METHOD.finditer(code):
        yield found[1], found.start()
    if "torch." in code and _NUMPY.search(code) is None:
        for found in _SLICED.finditer(code):
            yield found[1], found.start()
    for found in _STATISTICS.finditer(code) if ".running_" in code else ():
        yield f"{found[1]}.weight", found.start()
    for found in _FUNCTION.finditer(code):
        module = "torch" if found[1] == "torch" else "torch.nn.functional"
        if takes_only_a_tensor(f"{module}.{found[2]}"):
            yield found[3], found.start()


_TAKES_NUMBERS = frozenset(
    "pow float_power where result_type promote_types can_cast as_tensor tensor is_tensor add sub "
    "mul div remainder xlogy cat stack hstack vstack concat".split()
)


@functools.cache
def takes_only_a_tensor(name: str) -> bool:
    """Whether the first argument of a function of torch can be nothing but a tensor."""
    signature = function(name)
    if signature is None or not signature.parameters or name.rpartition(".")[2] in _TAKES_NUMBERS:
        return False
    slot = signature.parameters[0].slot
    return slot is not None and slot.role is Role.OPERAND and not slot.sequence


_IS_TENSOR = re.compile(
    rf"""["']?(?:(?:typing\.)?Optional\[)?["']?{_TENSOR}["']?\]?(?:\s*\|\s*None)?["']?"""
    r"""|["']?OptTensor["']?|None\s*\|\s*(?:torch\.)?Tensor"""
    r"""|(?:Float|Int|Bool|Shaped|Num|Inexact)\[(?:torch\.)?Tensor\s*,.*\]"""
)


def is_tensor_type(written: str) -> bool:
    """Whether an annotation says that a parameter is a tensor, if it is given at all."""
    return _IS_TENSOR.fullmatch(" ".join(written.split())) is not None


def is_open_type(written: str) -> bool:
    """Whether an annotation leaves open what it is."""
    return written in ("Any", "typing.Any", "object")


_GRAPH = re.compile(r"\b(?:Data|HeteroData|BaseData|Batch|DGLGraph|DGLHeteroGraph)\b")


def is_graph_type(written: str) -> bool:
    """Whether an annotation names a graph, which holds tensors."""
    return _GRAPH.search(written) is not None
