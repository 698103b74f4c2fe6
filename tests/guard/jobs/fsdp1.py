"""Trains under the first FSDP, guarded; see `misplace` for what is wrong."""

import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

import runtime_guard
from tests.guard.jobs.models import Block, Net, start, train


def main(parameters="original", wrong="nothing"):
    start()
    net = Net()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = FullyShardedDataParallel(
            net,
            auto_wrap_policy=ModuleWrapPolicy({Block}),
            device_id=torch.device("cpu"),
            use_orig_params=parameters == "original",
        )
    with runtime_guard.guard(model, meta=True):
        train(model, net, wrong)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
