"""Whether a claim allows what was seen."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.agreement.claims.values import EITHER, MODULE, NEITHER, TENSOR, UNKNOWN, Claim
from benchmarks.agreement.records import Seen
from devicelint.domain.devices import Known

NOWHERE = frozenset({"none", "unreadable"})
"""Of a module without tensors, and of what cannot be read: any claim agrees."""


def allows(claim: Claim, seen: Seen) -> bool:
    """Whether an expression of which this is claimed may give what was seen."""
    return fits_kind(claim, seen) and fits_device(claim, seen.device)


def fits_kind(claim: Claim, seen: Seen) -> bool:
    """Whether it may be a tensor, or a module, as it was."""
    match claim.what:
        case what if what in (UNKNOWN, EITHER):
            return True
        case what if what == MODULE:
            return seen.what == "module"
        case what if what == TENSOR:
            return seen.what != "module"
        case what:
            assert what == NEITHER
            return False


def fits_device(claim: Claim, device: str) -> bool:
    """Whether it may be there; of a module on several devices, one has to be the claimed one.

    A symbol may be any device: it is compared with other expressions of the same symbol.
    """
    if not isinstance(claim.device, Known) or device in NOWHERE:
        return True
    return any(_is(claim.device, one) for one in device.split("+"))


def _is(claimed: Known, device: str) -> bool:
    kind, _, index = device.partition(":")
    if claimed.type != kind:
        return False
    return claimed.index is None or not index or kind == "cpu" or claimed.index == int(index)


def fits_dimensions(claims: Iterable[Claim], seen: Seen) -> bool:
    """Whether a claim says nothing of the dimensions, or that it is 0-dim where it was, or not."""
    return any(claim.scalar is None or claim.scalar is seen.scalar for claim in claims)
