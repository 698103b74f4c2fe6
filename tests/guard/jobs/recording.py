"""Records under DDP: rank N makes N + 1 copies; then all train, guarded.

`die`: the last rank dies then; else see `misplace`. The file is `run.jsonl`.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import runtime_guard
from runtime_guard.distributed import gather
from tests.guard.jobs.models import Net, start, train


def main(wrong="nothing"):
    start()
    runtime_guard.record("run.jsonl")
    for _ in range(dist.get_rank() + 1):
        torch.ones(4).to("meta")
    net = Net()
    with runtime_guard.guard(net, meta=True):
        train(DistributedDataParallel(net), net, wrong)
    if wrong == "die":
        gather.__kwdefaults__ = {"timeout": 1.0}  # Ten seconds teach no more.
        dist.barrier()
        if dist.get_rank() == dist.get_world_size() - 1:
            os._exit(3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
