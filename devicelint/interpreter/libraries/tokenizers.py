"""Tokenizers and processors of transformers: tensors on the CPU, where tensors are asked for."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    ARRAY,
    HOST,
    NONE,
    TRUE,
    Const,
    Placed,
    TensorDict,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import library_call
from devicelint.interpreter.torch.bundles import any_held, make_bundle


@library_call("Encoded")
def encoded(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`tokenizer(text, return_tensors="pt")`: tensors on the CPU; without it, lists."""
    asked = arguments.keywords.get("return_tensors")
    if asked is None:
        return Unknown("lists or tensors") if arguments.open else ARRAY
    if asked.value != Const("pt"):
        return Unknown("tensors of some library")
    place = Placed(CPU, Step(Verb.CONVERTED, site, CPU))
    return make_bundle(run, "transformers.BatchEncoding", place, site)


@library_call("EncodedTensor")
def encoded_tensor(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    bundle = encoded(run, receiver, arguments, site)
    return any_held(run, bundle) if isinstance(bundle, TensorDict) else bundle


@library_call("EncodedChat")
def encoded_chat(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`apply_chat_template(messages, return_tensors="pt")`: a tensor, or a dict that is asked for.

    Which of them comes where nothing is asked depends on the release of transformers.
    """
    tokenized = arguments.keywords.get("tokenize")
    if tokenized is not None and tokenized.value == Const(False):
        return HOST
    bundle = encoded(run, receiver, arguments, site)
    asked = arguments.keywords.get("return_dict")
    if asked is not None and asked.value not in (TRUE, Const(False), NONE):
        return Unknown("a tensor, or a dict of tensors")
    if not isinstance(bundle, TensorDict) or (asked is not None and asked.value == TRUE):
        return bundle
    return any_held(run, bundle)
