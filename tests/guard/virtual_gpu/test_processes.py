"""Threads, and what travels between processes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver

import pytest
import torch
from torch import multiprocessing

from runtime_guard import virtual_gpu

older_pool = ThreadPoolExecutor(1)


def worker(received, sent):
    """In a spawned process: add to what was shared, and answer what was seen."""
    tensor, model = received.get()
    tensor += 1
    with torch.no_grad():
        model.weight.add_(1)
    sent.put((str(tensor.device), str(model.weight.device), torch.cuda.device_count()))
    sent.put(torch.full((2,), 7.0, device="cuda:1"))
    received.get()


def train(rank, model, devices):
    """In a spawned process: a step of Hogwild."""
    torch.cuda.set_device(rank)
    loss = model(torch.ones(1, 2, device="cuda:0")).sum()
    loss.backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    devices.put((rank, str(torch.ones(1, device="cuda").device)))


def forked(answers):
    """In a forked process: use the device, once its parent had."""
    try:
        torch.ones(2).to("cuda")
        answers.put("used")
    except RuntimeError as error:
        answers.put(str(error))
    answers.put(torch.cuda._is_in_bad_fork())
    answers.put(torch.ones(2).sum().item())


def counted(answers):
    """In a spawned process: how many devices there are."""
    answers.put(torch.cuda.device_count())


@pytest.fixture
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def context():
    """Processes forked off one that has imported torch, outside any block."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch._dynamo"])
    forkserver.ensure_running()
    return context


def test_a_new_thread_finds_the_machine():
    found = []

    class Own(threading.Thread):
        def run(self):
            found.append(torch.ones(2, device="cuda:1").device)

    with virtual_gpu(2):
        threads = [Own(), threading.Thread(target=Own.run, args=(None,))]
        for thread in threads:
            thread.start()
            thread.join()
    assert found == [torch.device("cuda:1")] * 2


@pytest.mark.parametrize("pool", [older_pool, None], ids=["older", "new"])
def test_pools_of_threads_find_the_machine(pool):
    older_pool.submit(int).result()
    with virtual_gpu(2):
        with ThreadPoolExecutor(1) as new:
            asked = (pool or new).submit(lambda: torch.ones(2).cuda().device)
        assert asked.result() == torch.device("cuda:0")


def test_the_current_device_is_each_threads_own():
    with virtual_gpu(2), ThreadPoolExecutor(1) as pool:
        torch.cuda.set_device(1)
        assert pool.submit(torch.cuda.current_device).result() == 0
        assert torch.cuda.current_device() == 1


def test_a_thread_that_outlives_the_block_is_on_its_own():
    ended = threading.Event()
    found = []

    def outlive():
        ended.wait()
        found.append(torch.ones(2).add(1).tolist())
        found.append(torch.cuda.is_available())

    with virtual_gpu():
        thread = threading.Thread(target=outlive)
        thread.start()
    ended.set()
    thread.join()
    assert found == [[2.0, 2.0], torch.cuda.is_available()]


def test_sharing_memory_is_real():
    with virtual_gpu():
        tensor = torch.ones(2, device="cuda")
        assert tensor.is_shared()
        assert tensor.share_memory_() is tensor
        assert str(tensor.device) == "cuda:0"
        assert not torch.ones(2).is_shared()


def test_tensors_and_modules_are_sent_and_shared(one_thread, context):
    with virtual_gpu(2):
        tensor = torch.ones(2, device="cuda:1")
        model = torch.nn.Linear(2, 1, bias=False).to("cuda:0")
        before = model.weight.detach().cpu()
        there, back = context.Queue(), context.Queue()
        process = context.Process(target=worker, args=(there, back))
        process.start()
        there.put((tensor, model))
        assert back.get(timeout=60) == ("cuda:1", "cuda:0", 2)
        made = back.get(timeout=60)
        assert str(made.device) == "cuda:1"
        assert made.tolist() == [7.0, 7.0]
        there.put(None)
        process.join(60)
        assert process.exitcode == 0
        assert tensor.tolist() == [2.0, 2.0]
        assert torch.equal(model.weight.detach().cpu(), before + 1)


def test_hogwild_trains_one_model_in_two_processes(one_thread, capfd):
    with virtual_gpu(2):
        model = torch.nn.Linear(2, 1, bias=False).cuda()
        torch.nn.init.zeros_(model.weight)
        model.share_memory()
        devices = multiprocessing.get_context("spawn").SimpleQueue()
        multiprocessing.spawn(train, args=(model, devices), nprocs=2)
        assert sorted([devices.get(), devices.get()]) == [(0, "cuda:0"), (1, "cuda:1")]
        assert model.weight.tolist() == [[-2, -2]]
    assert capfd.readouterr().err == ""


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")
@pytest.mark.parametrize("used", [True, False])
def test_cuda_cannot_be_used_again_in_a_forked_process(used, one_thread):
    context = multiprocessing.get_context("fork")
    with virtual_gpu():
        if used:
            torch.ones(2, device="cuda")
        answers = context.SimpleQueue()
        process = context.Process(target=forked, args=(answers,))
        process.start()
        process.join(60)
        assert answers.get() == (
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
            "you must use the 'spawn' start method"
            if used
            else "used"
        )
        assert answers.get() is used
        assert answers.get() == 2.0
        assert not torch.cuda._is_in_bad_fork()


def test_a_process_after_the_block_finds_no_machine(one_thread, context):
    with virtual_gpu():
        torch.ones(2, device="cuda")
    answers = context.SimpleQueue()
    process = context.Process(target=counted, args=(answers,))
    process.start()
    assert answers.get() == torch.cuda.device_count()
    process.join(60)
