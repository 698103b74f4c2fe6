"""Rules: layers whose parameters are on one device and whose input is on another."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from tests.conformance.given import CPU, cpu, each, gpu, ids, places
from tests.conformance.texts import ANY, differs, elementwise, exact, refused, version

DENSE = " or input should be a MKLDNN tensor and weight is a dense tensor"


def cuda(module):
    return module.to("cuda")


def types(one, other, what="weight"):
    """What a convolution says, in which `input` has the first type."""
    names = {"cpu": "torch.FloatTensor", "cuda": "torch.cuda.FloatTensor"}
    return f"Input type \\({names[one]}\\) and {what} type \\({names[other]}\\) should be the same"


def native(method):
    """What a convolution says that the CPU would do without oneDNN."""
    return exact("weight", "cuda:0", "cpu", method)


CPU_INPUT = {
    "Linear": (lambda: cuda(nn.Linear(3, 4))(cpu(2, 3)), exact("mat1", "cpu", "cuda:0", "addmm")),
    "Linear, a sequence": (
        lambda: cuda(nn.Linear(3, 4))(cpu(2, 5, 3)),
        exact("mat1", "cpu", "cuda:0", "addmm"),
    ),
    "Linear, without a bias": (
        lambda: cuda(nn.Linear(3, 4, bias=False))(cpu(2, 3)),
        exact("mat2", "cuda:0", "cpu", "mm"),
    ),
    "Conv1d": (lambda: cuda(nn.Conv1d(1, 2, 3))(cpu(2, 1, 5)), types("cpu", "cuda") + DENSE),
    "Conv1d, one sequence": (
        lambda: cuda(nn.Conv1d(1, 2, 3))(cpu(1, 1, 5)),
        native("__slow_conv2d_forward"),
    ),
    "Conv2d": (lambda: cuda(nn.Conv2d(1, 2, 3))(cpu(2, 1, 5, 5)), types("cpu", "cuda") + DENSE),
    "Conv2d, one small picture": (
        lambda: cuda(nn.Conv2d(1, 2, 3))(cpu(1, 1, 5, 5)),
        native("__slow_conv2d_forward"),
    ),
    "Conv2d, a small picture without a batch": (
        lambda: cuda(nn.Conv2d(1, 2, 3))(cpu(1, 5, 5)),
        native("__slow_conv2d_forward"),
    ),
    "Conv2d, one large picture": (
        lambda: cuda(nn.Conv2d(3, 2, 3))(cpu(1, 3, 224, 224)),
        types("cpu", "cuda") + DENSE,
    ),
    "Conv2d, one small picture and a large kernel": (
        lambda: cuda(nn.Conv2d(1, 2, 4))(cpu(1, 1, 5, 5)),
        types("cpu", "cuda") + DENSE,
    ),
    "Conv2d, one small picture in groups": (
        lambda: cuda(nn.Conv2d(2, 2, 3, groups=2))(cpu(1, 2, 5, 5)),
        types("cpu", "cuda") + DENSE,
    ),
    "Conv2d, dilated": (
        lambda: cuda(nn.Conv2d(1, 2, 3, dilation=2))(cpu(1, 1, 9, 9)),
        native("_slow_conv_dilated2d"),
    ),
    "Conv2d in double precision": (
        lambda: cuda(nn.Conv2d(1, 2, 3).double())(cpu(2, 1, 5, 5).double()),
        native("__slow_conv2d_forward"),
    ),
    "Conv2d in half precision": (
        lambda: cuda(nn.Conv2d(1, 2, 3).half())(cpu(1, 1, 5, 5).half()),
        "Input type \\(torch.HalfTensor\\) and weight type \\(torch.cuda.HalfTensor\\)",
    ),
    "Conv3d": (
        lambda: cuda(nn.Conv3d(1, 2, 3))(cpu(2, 1, 5, 5, 5)),
        types("cpu", "cuda") + DENSE,
    ),
    "Conv3d, one small volume": (
        lambda: cuda(nn.Conv3d(1, 2, 3))(cpu(1, 1, 5, 5, 5)),
        "Could not run 'aten::slow_conv3d_forward' with arguments from the 'CUDA' backend.",
    ),
    "Conv3d, one small volume, dilated": (
        lambda: cuda(nn.Conv3d(1, 2, 3, dilation=2))(cpu(1, 1, 9, 9, 9)),
        native("_slow_conv_dilated3d"),
    ),
    "ConvTranspose1d, one sequence": (
        lambda: cuda(nn.ConvTranspose1d(1, 2, 3))(cpu(1, 1, 5)),
        native("slow_conv_transpose2d"),
    ),
    "ConvTranspose2d": (
        lambda: cuda(nn.ConvTranspose2d(1, 2, 3))(cpu(2, 1, 5, 5)),
        types("cpu", "cuda") + DENSE,
    ),
    "ConvTranspose2d, one small picture": (
        lambda: cuda(nn.ConvTranspose2d(1, 2, 3))(cpu(1, 1, 5, 5)),
        native("slow_conv_transpose2d"),
    ),
    "ConvTranspose3d, one small volume": (
        lambda: cuda(nn.ConvTranspose3d(1, 2, 3))(cpu(1, 1, 5, 5, 5)),
        native("_slow_conv_transpose3d"),
    ),
    "BatchNorm1d": (
        lambda: cuda(nn.BatchNorm1d(3))(cpu(4, 3)),
        differs("weight", "cuda:0", "cpu"),
    ),
    "BatchNorm2d, evaluated": (
        lambda: cuda(nn.BatchNorm2d(3)).eval()(cpu(4, 3, 2, 2)),
        differs("weight", "cuda:0", "cpu"),
    ),
    "LayerNorm": (
        lambda: cuda(nn.LayerNorm(3))(cpu(2, 3)),
        exact("weight", "cuda:0", "cpu", "_native_layer_norm"),
    ),
    "GroupNorm": (
        lambda: cuda(nn.GroupNorm(2, 4))(cpu(2, 4)),
        exact("weight", "cuda:0", "cpu", "_native_group_norm"),
    ),
    "InstanceNorm1d": (lambda: cuda(nn.InstanceNorm1d(3, affine=True))(cpu(2, 3, 4)), ANY),
    "RMSNorm": (
        lambda: cuda(nn.RMSNorm(3))(cpu(2, 3)),
        exact("weight", "cuda:0", "cpu", "__fused_rms_norm") if version() >= (2, 11) else ANY,
    ),
    "Embedding": (
        lambda: cuda(nn.Embedding(3, 2))(ids(0, 1, on=CPU)),
        exact("index", "cpu", "cuda:0", "_index_select"),
    ),
    "EmbeddingBag": (
        lambda: cuda(nn.EmbeddingBag(3, 2))(ids([0, 1], on=CPU)),
        differs("indices", "cpu", "cuda:0"),
    ),
    "PReLU": (lambda: cuda(nn.PReLU())(cpu(3)), ANY),
    "Bilinear": (lambda: cuda(nn.Bilinear(3, 3, 2))(cpu(2, 3), cpu(2, 3)), ANY),
    "MultiheadAttention": (
        lambda: cuda(nn.MultiheadAttention(4, 2))(cpu(3, 1, 4), cpu(3, 1, 4), cpu(3, 1, 4)),
        ANY,
    ),
    "TransformerEncoderLayer": (
        lambda: cuda(nn.TransformerEncoderLayer(4, 2, 8))(cpu(3, 1, 4)),
        ANY,
    ),
    "a Sequential": (
        lambda: cuda(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)))(cpu(1, 2, 2)),
        exact("mat1", "cpu", "cuda:0", "addmm"),
    ),
}

CUDA_INPUT = {
    "Linear": (lambda: nn.Linear(3, 4)(gpu(2, 3)), exact("mat1", "cuda:0", "cpu", "addmm")),
    "Conv2d": (lambda: nn.Conv2d(1, 2, 3)(gpu(1, 1, 5, 5)), types("cuda", "cpu")),
    "Conv2d without a bias": (
        lambda: nn.Conv2d(1, 2, 3, bias=False)(gpu(1, 1, 5, 5)),
        types("cuda", "cpu"),
    ),
    "BatchNorm2d": (
        lambda: nn.BatchNorm2d(3)(gpu(4, 3, 2, 2)),
        differs("weight", "cpu", "cuda:0"),
    ),
    "LayerNorm": (
        lambda: nn.LayerNorm(3)(gpu(2, 3)),
        exact("weight", "cpu", "cuda:0", "_native_layer_norm"),
    ),
    "Embedding": (
        lambda: nn.Embedding(3, 2)(ids(0, 1)),
        exact("index", "cuda:0", "cpu", "_index_select"),
    ),
}


@each(
    {f"on CUDA, {name}": row for name, row in CPU_INPUT.items()}
    | {f"on the CPU, {name}": row for name, row in CUDA_INPUT.items()}
)
def test_a_layer_refuses_input_from_the_other_side(row):
    call, text = row
    refused(call, text)


RECURRENT = {
    "LSTM": lambda: nn.LSTM(3, 4),
    "GRU": lambda: nn.GRU(3, 4),
    "RNN": lambda: nn.RNN(3, 4),
    "LSTM with the batch first": lambda: nn.LSTM(3, 4, batch_first=True),
}


@each(RECURRENT)
def test_a_recurrent_layer_says_where_input_and_parameters_are(row):
    refused(
        lambda: cuda(row())(cpu(5, 1, 3)),
        "Input and parameter tensors are not at the same device, "
        "found input tensor at cpu and parameter tensor at cuda:0",
    )


HIDDEN = (
    "Input and hidden tensors are not at the same device, "
    "found input tensor at cuda:0 and hidden tensor at cpu"
)


def test_an_lstm_says_where_its_hidden_state_is():
    state = (torch.zeros(1, 1, 4), torch.zeros(1, 1, 4))
    refused(lambda: cuda(nn.LSTM(3, 4))(gpu(5, 1, 3), state), HIDDEN)


@each({"GRU": nn.GRU, "RNN": nn.RNN})
def test_a_gru_and_an_rnn_say_so_too(row):
    refused(lambda: cuda(row(3, 4))(gpu(5, 1, 3), torch.zeros(1, 1, 4)), HIDDEN)


def test_a_recurrent_layer_makes_its_first_state_beside_the_input():
    output, state = cuda(nn.LSTM(3, 4))(gpu(5, 1, 3))
    assert places([output, state]) == {"cuda:0"}


@each({"LSTMCell": nn.LSTMCell, "GRUCell": nn.GRUCell, "RNNCell": nn.RNNCell})
def test_a_cell_refuses_cpu_input(row):
    refused(lambda: cuda(row(3, 4))(cpu(2, 3)), ANY)


def test_a_cell_refuses_a_cpu_state():
    refused(lambda: cuda(nn.GRUCell(3, 4))(gpu(2, 3), torch.zeros(2, 4)), ANY)


def test_batch_norm_refuses_running_statistics_on_the_cpu():
    layer = cuda(nn.BatchNorm1d(3))
    layer.running_mean = layer.running_mean.cpu()
    refused(lambda: layer(gpu(4, 3)), differs("running_mean", "cpu", "cuda:0"))


def test_batch_norm_keeps_its_statistics_beside_its_parameters():
    layer = cuda(nn.BatchNorm2d(3))
    layer(gpu(4, 3, 2, 2))
    assert places(dict(layer.named_buffers())) == {"cuda:0"}
    assert layer.num_batches_tracked.item() == 1


def test_a_convolution_says_so_of_a_cpu_bias():
    layer = cuda(nn.Conv2d(1, 2, 3))
    layer.bias = nn.Parameter(layer.bias.detach().cpu())
    refused(lambda: layer(gpu(1, 1, 5, 5)), types("cuda", "cpu", "bias"))


@each(
    {
        "an attention mask": {"attn_mask": torch.zeros(3, 3)},
        "a causal mask of truth values": {"attn_mask": torch.ones(3, 3, dtype=torch.bool).triu(1)},
        "a padding mask": {"key_padding_mask": torch.zeros(1, 3, dtype=torch.bool)},
    }
)
def test_attention_refuses_a_mask_from_the_cpu(row):
    layer = cuda(nn.MultiheadAttention(4, 2))
    query = gpu(3, 1, 4)
    refused(lambda: layer(query, query, query, **row), ANY)


EFFICIENT = exact("attn_bias", "cpu", "cuda:0", "__scaled_dot_product_efficient_attention")
"""What the kernel says that wants rows of four numbers, or of eight in half precision."""


def attended(size, dtype=torch.float):
    query = gpu(1, 2, 3, size).to(dtype)
    mask = torch.zeros(3, 3, dtype=dtype)
    return functional.scaled_dot_product_attention(query, query, query, attn_mask=mask)


@each(
    {
        "of the function": (lambda: attended(4), EFFICIENT),
        "of the function, with rows too short": (lambda: attended(2), elementwise()),
        "of the function, with rows too short in half precision": (
            lambda: attended(4, torch.half),
            elementwise(),
        ),
        "of a layer that gives no weights": (
            lambda: cuda(nn.MultiheadAttention(8, 2))(
                *[gpu(3, 3, 8)] * 3, attn_mask=torch.zeros(3, 3), need_weights=False
            ),
            EFFICIENT,
        ),
        "of a layer of an encoder": (
            lambda: cuda(nn.TransformerEncoderLayer(8, 2, 8))(
                gpu(3, 3, 8), src_mask=torch.zeros(3, 3)
            ),
            EFFICIENT,
        ),
        "of a layer of an encoder, with rows too short": (
            lambda: cuda(nn.TransformerEncoderLayer(4, 2, 8))(
                gpu(3, 3, 4), src_mask=torch.zeros(3, 3)
            ),
            elementwise(),
        ),
    }
)
def test_fused_attention_refuses_a_mask_from_the_cpu(row):
    call, text = row
    refused(call, text)


LOSSES = {
    "CrossEntropyLoss, its class weights": (
        lambda: nn.CrossEntropyLoss(weight=cpu(3))(gpu(2, 3), ids(0, 1)),
        exact("weight", "cpu", "cuda:0", "nll_loss_forward"),
    ),
    "NLLLoss, its targets": (
        lambda: nn.NLLLoss()(gpu(2, 3), ids(0, 1, on=CPU)),
        exact("target", "cpu", "cuda:0", "nll_loss_forward"),
    ),
    "BCEWithLogitsLoss, pos_weight": (
        lambda: nn.BCEWithLogitsLoss(pos_weight=cpu(3))(gpu(2, 3), gpu(2, 3)),
        elementwise(),
    ),
    "BCELoss, its weight": (
        lambda: nn.BCELoss(weight=cpu(2, 3))(gpu(2, 3) / 2, gpu(2, 3) / 2),
        elementwise(),
    ),
    "MSELoss, its targets": (lambda: nn.MSELoss()(gpu(2), cpu(2)), elementwise()),
    "CosineEmbeddingLoss": (
        lambda: nn.CosineEmbeddingLoss()(gpu(2, 3), cpu(2, 3), torch.ones(2)),
        ANY,
    ),
    "TripletMarginLoss": (
        lambda: nn.TripletMarginLoss()(gpu(2, 3), gpu(2, 3), cpu(2, 3)),
        ANY,
    ),
    "GaussianNLLLoss": (lambda: nn.GaussianNLLLoss()(gpu(2), cpu(2), gpu(2)), ANY),
    "MultiMarginLoss": (lambda: nn.MultiMarginLoss()(gpu(2, 3), ids(0, 1, on=CPU)), ANY),
}


@each(LOSSES)
def test_a_loss_refuses_two_devices(row):
    call, text = row
    refused(call, text)


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_ctc_moves_its_targets_and_lengths_itself(where):
    scores = gpu(5, 1, 4).log_softmax(-1)
    targets = torch.tensor([[1, 2]], device=where)
    loss = nn.CTCLoss()(scores, targets, torch.tensor([5]), torch.tensor([2]))
    assert loss.device.type == "cuda"
