# ruff: noqa: T201
"""Brings what the ranks have to rank 0, and prints what came.

`all`: twice, from every rank; `dead`: the last rank dies first; `destroy`, `exit`: when the ranks
part, or end without parting.
"""

import os
import sys
import time
from functools import partial
from pathlib import Path

from torch.distributed import destroy_process_group, init_process_group

from runtime_guard.distributed import call_before_shutdown, gather, rank_and_host


def send_and_print(what: str = "of", timeout: float = 30.0) -> None:
    print(gather(f"{what} {rank_and_host().partition(' on ')[0]}".encode(), timeout=timeout))


def main(what: str) -> None:
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    init_process_group("gloo", init_method=os.environ["RENDEZVOUS"], rank=rank, world_size=size)
    # Gloo fails to connect to a rank that has ended already.
    Path(f"met{rank}").touch()
    while len(list(Path().glob("met*"))) < size:
        time.sleep(0.01)
    match what:
        case "all":
            send_and_print()
            send_and_print("again of")
        case "dead":
            if rank == size - 1:
                os._exit(3)
            send_and_print(timeout=1.0)
        case "destroy":
            # By then torch's function was imported by name, and is kept under another.
            call_before_shutdown(send_and_print)
            partial(destroy_process_group, None)()
            print("parted")
        case _:
            call_before_shutdown(send_and_print)
            print("ending")


if __name__ == "__main__":
    main(*sys.argv[1:])
