"""Starts its own ranks, as tutorials do, each with a guard and a record of its own.

The argument is what is wrong; see `misplace`. The file is `run.jsonl`.
"""

import os
import sys
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

import runtime_guard
from tests.guard.jobs.models import Net, start, train

RANKS = 2


def work(rank, wrong):
    os.environ["RENDEZVOUS"] = Path("rendezvous").absolute().as_uri()
    with runtime_guard.record("run.jsonl"):  # Before anything knows which rank this is.
        start(rank, RANKS)
        net = Net()
        model = DistributedDataParallel(net)
        with runtime_guard.guard(model, meta=True):
            train(model, net, wrong)
        dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, args=(*sys.argv[1:], "nothing")[:1], nprocs=RANKS)
