"""The data that scripts want, made small: those of pytorch/examples, and others."""

from __future__ import annotations

from benchmarks.pytorch_examples import inputs as of_examples
from benchmarks.pytorch_examples.inputs import Maker

MAKERS: dict[str, Maker] = {**of_examples.MAKERS}
"""Each makes data in the folder above the script's, or in the script's own."""
