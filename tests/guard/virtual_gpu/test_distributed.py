"""Process groups, data parallel and sharded training over virtual GPUs."""

import pytest
import torch.distributed as dist
from torch.distributed import distributed_c10d

from runtime_guard import virtual_gpu
from tests.guard.jobs.launch import launch


@pytest.mark.parametrize(
    "jobs",
    [["collectives", "ddp", "zero", "synced"], ["fsdp2", "tensor_parallel", "fsdp1"]],
    ids=["replicated", "sharded"],
)
def test_two_ranks_with_a_gpu_each(jobs, tmp_path):
    for rank in launch("virtual_nccl.py", *jobs, folder=tmp_path):
        assert rank.status == 0, rank.output
        assert [f"{job} passed" in rank.output for job in jobs] == [True] * len(jobs)


def test_it_is_said_once_that_nccl_runs_on_gloo(tmp_path):
    for rank in launch("virtual_nccl.py", "objects", folder=tmp_path):
        assert rank.status == 0, rank.output
        assert rank.output.count("virtual GPU: collectives of nccl run on gloo") == 1


def test_nccl_is_there_inside_the_block_alone():
    before = dist.is_nccl_available()
    with virtual_gpu():
        assert dist.is_nccl_available()
        assert dist.ProcessGroupNCCL.__name__ == "ProcessGroupNCCL"
        assert dist.get_default_backend_for_device("cuda") == "nccl"
    assert dist.is_nccl_available() == before


@pytest.mark.filterwarnings("ignore::runtime_guard.VirtualGpuWarning")
def test_a_group_without_a_backend_is_of_the_accelerator(tmp_path):
    with virtual_gpu():
        try:
            dist.init_process_group(init_method=(tmp_path / "store").as_uri(), rank=0, world_size=1)
            config = distributed_c10d._world.pg_backend_config[dist.group.WORLD]
            assert "cuda:nccl" in config
        finally:
            dist.destroy_process_group()
