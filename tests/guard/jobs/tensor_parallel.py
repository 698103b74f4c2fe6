"""Trains with tensors distributed over the ranks, guarded; see `misplace` for the argument."""

import sys

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

import runtime_guard
from tests.guard.jobs.models import Net, start, train


def main(wrong="nothing"):
    start()
    net = Net()
    with runtime_guard.guard(net, meta=True):
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        whole = ColwiseParallel(output_layouts=Replicate())
        parallelize_module(net.blocks[1], mesh, {"linear": whole})
        parallelize_module(net, mesh, {"head": RowwiseParallel(input_layouts=Replicate())})
        train(net, net, wrong)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
