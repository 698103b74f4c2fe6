"""Trains under DDP, as people write it: nothing here guards. See `misplace` for the argument."""

import sys

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from tests.guard.jobs.models import Net, start, train


def main(wrong="nothing"):
    start()
    net = Net()
    train(DistributedDataParallel(net), net, wrong)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
