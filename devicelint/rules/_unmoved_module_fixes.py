"""A module that was never moved, and the ways to bring it where its inputs are."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.events import Clash, Operand
from devicelint.domain.history import Verb
from devicelint.fixes import InsertAfter, InsertStatement, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.rules._clashes import quoted


def is_never_moved(context: RuleContext, operand: Operand) -> bool:
    """Whether an operand is a module that is still where this file built it, on the CPU."""
    since = operand.since
    if since is None or since.verb is not Verb.BUILT or operand.device != CPU:
        return False
    return isinstance(since.site, cst.Call) and context.where_made(since.site) is not None


def move_module(context: RuleContext, clash: Clash) -> Rewrite | None:
    """The module goes where its input is: beside its siblings, or as soon as it is built."""
    since = clash.reference.since
    if since is None or not isinstance(since.site, cst.Call):
        return None
    rewrite = (
        _beside_siblings(context, clash, since.site)
        or _as_it_is_built(context, clash, since.site)
        or _after_it_is_built(context, clash, since.site)
        or _as_it_is_kept(context, clash)
        or _as_its_neighbour(context, clash, since.site)
        or _as_it_is_named(context, clash)
    )
    return None if rewrite is None else replace(rewrite, uncovers=True)


def _beside_siblings(context: RuleContext, clash: Clash, built: cst.Call) -> Rewrite | None:
    beside = context.moves.beside_siblings(built, clash.culprit.device)
    if beside is None:
        return None
    change = InsertStatement(beside.anchor, beside.content, beside.where)
    return Rewrite(f"Move `{beside.name}` with `{beside.move}`, like its siblings", (change,))


def _after_it_is_built(context: RuleContext, clash: Clash, built: cst.Call) -> Rewrite | None:
    since = clash.culprit.since
    move = None if since is None else since.site
    place = context.moves.after_its_building(built, clash.culprit.device, move)
    if place is None:
        return None
    change = InsertStatement(place.anchor, place.content, place.where)
    return Rewrite(f"Move `{place.name}` with `{place.move}`", (change,))


def _as_it_is_built(context: RuleContext, clash: Clash, built: cst.Call) -> Rewrite | None:
    made = context.where_made(built)
    move = (
        None
        if made is None
        else made.moves.move_to(clash.culprit.device, clash.culprit.since, built)
    )
    if move is None:
        return None
    return Rewrite(f"Move {quoted(context, built)} with `{move}`", (InsertAfter(built, move),))


def _as_it_is_kept(context: RuleContext, clash: Clash) -> Rewrite | None:
    here, device = context.at(clash), clash.culprit.device
    kept, spelled = (
        here.moves.as_it_is_kept(clash.reference.site, device),
        here.moves.spelling(device),
    )
    if kept is None or spelled is None:
        return None
    move = f".to({spelled})"
    return Rewrite(f"Move {quoted(here, kept)} with `{move}`", (InsertAfter(kept, move),))


def _as_its_neighbour(context: RuleContext, clash: Clash, built: cst.Call) -> Rewrite | None:
    """`self.b = B()` right after `self.a = A().to(device)`, which is where its input comes from."""
    move = context.moves.move_of_neighbour(built, clash.culprit.since)
    if move is None:
        return None
    return Rewrite(f"Move {quoted(context, built)} with `{move}`", (InsertAfter(built, move),))


def _as_it_is_named(context: RuleContext, clash: Clash) -> Rewrite | None:
    """`model = build()`: what is built elsewhere, for others too, moves where it is used."""
    here, site = context.at(clash), clash.reference.site
    bound = here.source.bound_by(site)
    if not isinstance(bound, cst.Assign) or not isinstance(bound.value, cst.Call):
        return None
    move = here.moves.move_to(clash.culprit.device, clash.culprit.since, bound)
    if move is None or not isinstance(bound.targets[0].target, cst.Name):
        return None
    what = quoted(here, bound.value)
    return Rewrite(f"Move {what} with `{move}`", (InsertAfter(bound.value, move),))
