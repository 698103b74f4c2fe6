"""Autocast and gradient scaling on virtual devices."""

import threading

import pytest
import torch
from torch import nn

from runtime_guard import virtual_gpu


@pytest.fixture(autouse=True)
def one():
    with virtual_gpu():
        yield


def ones(*size, **options):
    return torch.ones(*size, device="cuda", **options)


class TestAutocast:
    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
    def test_recurrent_layers_are_cast_whole(self, kind, dtype):
        layer = kind(3, 4).cuda()
        with torch.autocast("cuda", dtype=dtype):
            output, _ = layer(ones(2, 1, 3))
        assert output.dtype is dtype
        output.float().sum().backward()
        assert layer.weight_ih_l0.grad.dtype is torch.float32

    def test_the_widest_dtype_is_taken(self):
        with torch.autocast("cuda"):
            assert torch.cat([ones(2), ones(2).half()]).dtype is torch.float32
            assert torch.stack([ones(2).half(), ones(2).half()]).dtype is torch.float16

    def test_what_is_told_its_dtype_keeps_it(self):
        with torch.autocast("cuda"):
            assert ones(2).half().sum(dtype=torch.float16).dtype is torch.float16
            assert (ones(2, 2, dtype=torch.float64) @ ones(2, 2, dtype=torch.float64)).dtype is (
                torch.float64
            )
            assert torch.ones(3, dtype=torch.int64, device="cuda").sum().dtype is torch.int64

    def test_on_both_kinds_of_device_each_is_cast_as_asked(self):
        host = torch.ones(2, 2)
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.autocast("cuda"):
            assert (host @ host).dtype is torch.bfloat16
            assert (ones(2, 2) @ ones(2, 2)).dtype is torch.float16
        assert (host @ host).dtype is torch.float32

    def test_it_ends_after_an_error(self):
        def fail():
            with torch.autocast("cuda"):
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert (ones(2, 2) @ ones(2, 2)).dtype is torch.float32

    def test_another_thread_is_not_inside(self):
        found = []
        with torch.autocast("cuda"):
            thread = threading.Thread(target=lambda: found.append((ones(2, 2) @ ones(2, 2)).dtype))
            thread.start()
            thread.join()
        assert found == [torch.float32]

    def test_a_function_of_ones_own(self):
        class Product(torch.autograd.Function):
            @staticmethod
            @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
            def forward(ctx, left):
                ctx.save_for_backward(left)
                return left @ left

            @staticmethod
            @torch.amp.custom_bwd(device_type="cuda")
            def backward(ctx, grad):
                (left,) = ctx.saved_tensors
                return grad @ left.t() + left.t() @ grad

        weight = ones(2, 2, dtype=torch.float16).requires_grad_()
        with torch.autocast("cuda"):
            made = Product.apply(weight)
        assert made.dtype is torch.float32
        made.sum().backward()
        assert weight.grad.tolist() == [[4, 4], [4, 4]]

    @pytest.mark.parametrize(("name", "dtype"), [("mps", torch.float16), ("xpu", torch.float16)])
    def test_of_other_machines(self, name, dtype):
        with virtual_gpu(1, name), torch.autocast(name):
            made = torch.ones(2, 2, device=name)
            assert (made @ made).dtype is dtype
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32


class TestScaler:
    def run(self, factors, **options):
        """The scales and the weight after a step with each factor of the loss."""
        scaler = torch.amp.GradScaler("cuda", **options)
        weight = nn.Parameter(ones(1))
        optimizer = torch.optim.SGD([weight], lr=0.25)
        scales = []
        for factor in factors:
            optimizer.zero_grad()
            scaler.scale((weight * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        return scales, weight.item()

    def test_a_step_takes_the_true_gradient(self):
        assert self.run([2.0]) == ([65536.0], 0.5)

    def test_an_infinite_gradient_is_not_taken(self):
        assert self.run([float("inf"), 2.0]) == ([32768.0, 32768.0], 0.5)
        assert self.run([float("nan")]) == ([32768.0], 1.0)

    def test_the_scale_grows(self):
        found = self.run([1.0, 1.0], init_scale=4.0, growth_interval=1)
        assert found == ([8.0, 16.0], 0.5)

    def test_its_scale_lies_where_the_loss_does(self):
        scaler = torch.amp.GradScaler()
        scaler.scale(ones(1))
        assert scaler._scale.device == torch.device("cuda:0")
        assert scaler.is_enabled()

    def test_its_state_is_kept(self):
        scaler = torch.amp.GradScaler("cuda", init_scale=8.0)
        scaler.scale(ones(1))
        other = torch.amp.GradScaler("cuda")
        other.load_state_dict(scaler.state_dict())
        other.scale(ones(1))
        assert other.get_scale() == 8.0
