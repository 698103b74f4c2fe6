"""Trains under DDP, guarded; see `misplace` for the argument."""

import sys
import warnings

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import runtime_guard
from tests.guard.jobs.models import Net, start, train


def main(wrong="nothing"):
    start()
    net = Net()
    # Gloo would end the process that has a buffer elsewhere, without an exception.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = DistributedDataParallel(net, broadcast_buffers=False)
    with runtime_guard.guard(model, meta=True):
        train(model, net, wrong)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
