"""Training: whole loops as people write them."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.conformance.given import GPU, cpu, gpu, ids, places
from tests.conformance.texts import ANY, elementwise, exact, refused


def classifier(device):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)


def batches():
    torch.manual_seed(2)
    return DataLoader(TensorDataset(torch.rand(12, 4), torch.arange(12) % 3), batch_size=4)


def trained(device, move_inputs=True, move_targets=True):
    """The losses of three epochs."""
    model, criterion = classifier(device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(3):
        for inputs, targets in batches():
            optimizer.zero_grad()
            answer = model(inputs.to(device) if move_inputs else inputs)
            loss = criterion(answer, targets.to(device) if move_targets else targets)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def test_a_loop_on_cuda_learns_what_it_learns_on_the_cpu():
    losses = trained("cuda")
    assert losses == pytest.approx(trained("cpu"), rel=1e-3)
    assert losses[-1] < losses[0]


def test_a_loop_that_forgets_the_inputs_fails():
    refused(lambda: trained("cuda", move_inputs=False), exact("mat1", "cpu", "cuda:0", "addmm"))


def test_a_loop_that_forgets_the_targets_fails():
    refused(
        lambda: trained("cuda", move_targets=False),
        exact("target", "cpu", "cuda:0", "nll_loss_forward"),
    )


def test_a_running_loss_that_is_a_cpu_tensor_fails():
    def run():
        total = torch.zeros(1)
        total += nn.functional.mse_loss(gpu(3), gpu(3))

    refused(run, elementwise())


def test_a_running_loss_that_starts_as_a_number_works():
    total: float | torch.Tensor = 0
    for _ in range(2):
        total += nn.functional.mse_loss(gpu(3), gpu(3))
    assert isinstance(total, torch.Tensor)
    assert total.device == GPU


def test_accuracy_with_targets_left_behind_fails():
    answers = gpu(4, 3).argmax(1)
    refused(lambda: answers == torch.zeros(4), elementwise())


def test_accuracy_counts_on_cuda():
    answers, targets = ids(0, 1, 2), ids(0, 1, 1)
    assert (answers == targets).sum().item() == 2
    assert (answers == targets).float().mean().device == GPU


def test_predictions_are_gathered_on_the_cpu():
    gathered = [classifier("cuda")(inputs.cuda()).detach().cpu() for inputs, _ in batches()]
    assert places(torch.cat(gathered)) == {"cpu"}


def test_predictions_gathered_on_both_sides_do_not_join():
    refused(lambda: torch.cat([torch.zeros(0), gpu(2), cpu(2)]), ANY)


def test_gradients_are_accumulated():
    model = classifier("cuda")
    for inputs, targets in batches():
        (nn.functional.cross_entropy(model(inputs.cuda()), targets.cuda()) / 3).backward()
    assert places([p.grad for p in model.parameters()]) == {"cuda:0"}


def test_an_evaluation_needs_no_gradients():
    model = classifier("cuda").eval()
    with torch.no_grad():
        answers = [model(inputs.cuda()).argmax(1) for inputs, _ in batches()]
    assert places(answers) == {"cuda:0"}


class Recurrent(nn.Module):
    def __init__(self, beside_input):
        super().__init__()
        self.lstm, self.head = nn.LSTM(2, 3, batch_first=True), nn.Linear(3, 1)
        self.beside_input = beside_input

    def forward(self, x):
        device = x.device if self.beside_input else None
        state = torch.zeros(1, len(x), 3, device=device)
        output, _ = self.lstm(x, (state, state))
        return self.head(output[:, -1])


def test_a_state_made_beside_the_input_works():
    assert Recurrent(beside_input=True).cuda()(gpu(2, 4, 2)).device == GPU


def test_a_state_made_on_the_cpu_fails():
    refused(
        lambda: Recurrent(beside_input=False).cuda()(gpu(2, 4, 2)),
        "Input and hidden tensors are not at the same device",
    )


class Positional(nn.Module):
    def __init__(self, registered):
        super().__init__()
        table = torch.rand(8, 4)
        if registered:
            self.register_buffer("table", table)
        else:
            self.table = table

    def forward(self, x):
        return x + self.table[: x.shape[1]]


def test_a_registered_table_follows_the_model():
    assert Positional(registered=True).cuda()(gpu(2, 3, 4)).device == GPU


def test_a_table_that_is_a_plain_attribute_does_not():
    refused(lambda: Positional(registered=False).cuda()(gpu(2, 3, 4)), elementwise())


def test_an_autoencoder_with_noise():
    mean, spread = gpu(2, 3, grad=True), gpu(2, 3)
    sample = mean + torch.randn_like(spread) * torch.exp(0.5 * spread)
    sample.sum().backward()
    assert (sample.device, mean.grad.device) == (GPU, GPU)
    refused(lambda: mean + torch.randn(2, 3) * spread, elementwise())


def test_a_causal_mask():
    scores = gpu(1, 3, 3)
    refused(
        lambda: scores.masked_fill(torch.ones(3, 3).triu(1).bool(), float("-inf")),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    )
    mask = torch.ones(3, 3, device=scores.device).triu(1).bool()
    assert scores.masked_fill(mask, float("-inf")).softmax(-1)[0, 0].tolist() == [1.0, 0.0, 0.0]


def test_a_distribution_samples_where_its_parameters_are():
    normal = torch.distributions.Normal(gpu(2), gpu(2))
    assert places([normal.sample(), normal.rsample(), normal.log_prob(gpu(2))]) == {"cuda:0"}
    assert torch.distributions.Categorical(logits=gpu(3)).sample().device == GPU
    assert torch.distributions.Normal(0.0, 1.0).sample().device.type == "cpu"


def test_a_distribution_of_two_devices_fails():
    refused(lambda: torch.distributions.Normal(gpu(2), cpu(2)).rsample(), ANY)


def test_a_value_network_and_a_replay_buffer():
    rewards = torch.tensor([1.0, 0.0])
    values = gpu(2, 3)
    refused(lambda: rewards + 0.9 * values.max(1).values, elementwise())
    target = rewards.cuda() + 0.9 * values.max(1).values
    assert target.device == GPU


def test_the_choice_of_a_device_finds_cuda():
    assert torch.device("cuda" if torch.cuda.is_available() else "cpu").type == "cuda"
