"""A Module hides submodules in a plain container."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.events import HiddenModules, ModuleDefined
from devicelint.finding import Safety, Severity
from devicelint.fixes import Change, Replace, Rewrite, WrapInCall
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._base import Report, Reports, Rule

_NO_METHODS_OF_A_MODULE_DICT = frozenset({"get", "setdefault", "copy", "fromkeys"})


class UnregisteredModule(Rule):
    """`.to()` and the optimizer miss submodules in a plain list, tuple or dict."""

    code = "DEV105"
    name = "unregistered-module"
    severity = Severity.ERROR
    summary = "`.to()` and the optimizer miss submodules in a plain list, tuple or dict"
    unfixed = "it is used as a plain list or dict, or is filled elsewhere"

    def on_module_defined(self, event: ModuleDefined, context: RuleContext) -> Reports:
        """Each plain container that holds modules which nothing else registers."""
        for hidden in event.hidden:
            wrapper = "ModuleDict" if hidden.kind == "dict" else "ModuleList"
            yield Report(
                hidden.site,
                f"self.{hidden.attribute} of {event.module.name} is a plain {hidden.kind} of "
                "modules: .to(), .parameters() and the optimizer miss them; "
                f"use nn.{wrapper}",
                fix=_register(context, hidden, wrapper),
                related=tuple((site, "built here but not registered") for site in hidden.built),
                anywhere=True,
                unless=hidden.site,
            )


def _register(context: RuleContext, hidden: HiddenModules, wrapper: str) -> Rewrite | None:
    name = context.names.name_of(f"torch.nn.{wrapper}")
    site = hidden.value_site
    if name is None or site is None or isinstance(site, cst.IfExp):
        return None
    assert isinstance(site, cst.CSTNode)
    if hidden.kind == "dict" and _needs_a_dict(context, hidden.attribute, site):
        return None
    change: Change = WrapInCall(site, name)
    if isinstance(site, (cst.List, cst.Dict)) and not site.elements:
        change = Replace(site, f"{name}()")
    message = f"Register them with `{name}`; they are then trained and saved"
    if hidden.kind == "dict" and not _has_plain_keys(site):
        message += ", and their keys must be identifiers"
    return Rewrite(message, (change,), Safety.UNSAFE)


def _needs_a_dict(context: RuleContext, attribute: str, site: cst.CSTNode) -> bool:
    """Whether keys are no strings, or the file uses what a ModuleDict has not."""
    if _has_other_keys(site):
        return True
    called = context.source.methods_called_on(attribute)
    return any(method in _NO_METHODS_OF_A_MODULE_DICT for method, _ in called)


def _has_other_keys(site: cst.CSTNode) -> bool:
    if isinstance(site, cst.DictComp):
        return isinstance(site.key, cst.Tuple) or (isinstance(site.key, cst.Name) and _counts(site))
    elements = site.elements if isinstance(site, cst.Dict) else ()
    return any(
        isinstance(one, cst.DictElement) and isinstance(one.key, (cst.BaseNumber, cst.Tuple))
        for one in elements
    )


def _counts(made: cst.DictComp) -> bool:
    """`for i in range(3)`."""
    match made.for_in.iter:
        case cst.Call(func=cst.Name("range" | "enumerate")):
            return True
        case _:
            return False


def _has_plain_keys(site: cst.CSTNode) -> bool:
    """Whether all keys are strings that a ModuleDict takes: no dots, no names of its methods."""
    if not isinstance(site, cst.Dict) or not site.elements:
        return False
    return all(
        isinstance(one, cst.DictElement)
        and isinstance(one.key, cst.SimpleString)
        and one.key.raw_value.isascii()
        and one.key.raw_value.replace("_", "a").isalnum()
        and one.key.raw_value not in _TAKEN
        for one in site.elements
    )


_TAKEN = frozenset(
    "type float double half train eval forward apply add_module children modules parameters "
    "buffers to cpu cuda training keys values items pop update clear call_super_init".split()
)
"""Attributes of a ModuleDict, which it refuses as keys."""
