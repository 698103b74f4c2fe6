"""Propagation: what is computed from CUDA tensors is on CUDA, whatever computes it."""

import torch
from torch import nn
from torch.nn import functional

from tests.conformance.given import CPU, cpu, each, gpu, ids, places

ARITHMETIC = {
    "+": lambda t: t + t,
    "a number -": lambda t: 1 - t,
    "unary -": lambda t: -t,
    "abs": abs,
    "@": lambda t: t @ t,
    "**": lambda t: t**2,
    "a number **": lambda t: 2**t,
    "==": lambda t: t == t[0],
    "~": lambda t: ~(t > 1),
    "exp": torch.exp,
    "softmax": lambda t: t.softmax(-1),
    "clamp": lambda t: t.clamp(0, 1),
    "where and numbers": lambda t: torch.where(t > 1, 1.0, 0.0),
    "where alone": lambda t: torch.where(t > 1),
    "masked_fill": lambda t: t.masked_fill(t > 1, 0),
    "nan_to_num": torch.nan_to_num,
    "lerp": lambda t: torch.lerp(t, t, 0.5),
    "isfinite": torch.isfinite,
    "rsub": lambda t: torch.rsub(t, 1),
}

REDUCTIONS = {
    "sum": torch.sum,
    "mean over a dimension": lambda t: t.mean(0),
    "max with indices": lambda t: t.max(1),
    "argmax": lambda t: t.argmax(1),
    "norm": torch.norm,
    "linalg.norm": torch.linalg.norm,
    "any": torch.any,
    "logsumexp": lambda t: t.logsumexp(0),
    "var_mean": torch.var_mean,
    "cumsum": lambda t: t.cumsum(0),
    "median": lambda t: t.median(0),
    "quantile": lambda t: t.quantile(0.5),
    "topk": lambda t: t.topk(2),
    "sort": lambda t: t.sort(),
    "argsort": lambda t: t.argsort(),
    "unique with counts": lambda t: torch.unique(t, return_counts=True),
    "bincount": lambda t: t.flatten().long().bincount(),
    "histc": lambda t: t.histc(3),
    "nonzero": torch.nonzero,
    "aminmax": torch.aminmax,
    "count_nonzero": torch.count_nonzero,
    "trace": torch.trace,
}

SHAPES = {
    "view": lambda t: t.view(9),
    "reshape": lambda t: t.reshape(1, 9),
    "transpose": lambda t: t.t(),
    "permute": lambda t: t.permute(1, 0),
    "unsqueeze": lambda t: t.unsqueeze(0),
    "expand": lambda t: t.expand(2, 3, 3),
    "repeat": lambda t: t.repeat(2, 1),
    "chunk": lambda t: t.chunk(2),
    "split": lambda t: t.split(1),
    "unbind": lambda t: t.unbind(),
    "cat": lambda t: torch.cat([t, t]),
    "stack": lambda t: torch.stack([t, t]),
    "flip": lambda t: t.flip(0),
    "roll": lambda t: t.roll(1),
    "tril": torch.tril,
    "diag": torch.diag,
    "pad": lambda t: functional.pad(t, (1, 1)),
    "unfold": lambda t: t.unfold(0, 2, 1),
    "as_strided": lambda t: t.as_strided((2,), (1,)),
    "block_diag": lambda t: torch.block_diag(t, t),
    "pad_sequence": lambda t: nn.utils.rnn.pad_sequence([t[0], t[0, :2]], batch_first=True),
    "pack_sequence": lambda t: nn.utils.rnn.pack_sequence([t, t[:2]]),
    "view_as_real": lambda t: torch.view_as_real(torch.complex(t, t)),
    "tensor_split": lambda t: t.tensor_split(2),
}

SELECTIONS = {
    "index_select": lambda t: t.index_select(0, ids(0, 1)),
    "gather": lambda t: t.gather(1, ids([0], [1], [2])),
    "take_along_dim": lambda t: t.take_along_dim(t.argmax(1, keepdim=True), 1),
    "masked_select": lambda t: t.masked_select(t > 1),
    "scatter_add": lambda t: torch.zeros_like(t).scatter_add(1, ids([0], [1], [2]), t),
    "index_add_": lambda t: t.index_add_(0, ids(0), torch.ones(1, 3, device="cuda")),
    "one_hot": lambda t: functional.one_hot(t.argmax(1), 3),
    "searchsorted": lambda t: torch.searchsorted(t[0].sort().values, t[1]),
    "bucketize": lambda t: torch.bucketize(t, ids(0.7, 1.2)),
    "tril_indices of its device": lambda t: t[torch.tril_indices(3, 3, device=t.device).unbind()],
}

MATHEMATICS = {
    "einsum": lambda t: torch.einsum("ij,jk->ik", t, t),
    "cdist": lambda t: torch.cdist(t, t),
    "linalg.solve": lambda t: torch.linalg.solve(t + 9 * torch.eye(3, device="cuda"), t),
    "linalg.inv": lambda t: torch.linalg.inv(t + 9 * torch.eye(3, device="cuda")),
    "linalg.svd": torch.linalg.svd,
    "linalg.qr": torch.linalg.qr,
    "linalg.eigh": lambda t: torch.linalg.eigh(t + t.t()),
    "det": torch.det,
    "outer": lambda t: torch.outer(t[0], t[1]),
    "cross": lambda t: torch.linalg.cross(t, t),
    "kron": lambda t: torch.kron(t, t),
    "fft": torch.fft.fft,
    "rfft and back": lambda t: torch.fft.irfft(torch.fft.rfft(t)),
    "corrcoef": torch.corrcoef,
    "interpolate": lambda t: functional.interpolate(t[None, None], scale_factor=2.0),
    "interpolate, bilinear": (
        lambda t: functional.interpolate(t[None, None], size=5, mode="bilinear")
    ),
    "grid_sample": (
        lambda t: functional.grid_sample(
            t[None, None], torch.zeros(1, 2, 2, 2, device="cuda"), align_corners=False
        )
    ),
    "normalize": functional.normalize,
    "cosine_similarity": lambda t: functional.cosine_similarity(t, t),
    "gumbel_softmax": functional.gumbel_softmax,
    "max_pool1d with indices": lambda t: functional.max_pool1d(t, 2, return_indices=True),
    "scaled_dot_product_attention": (
        lambda t: functional.scaled_dot_product_attention(t[None], t[None], t[None])
    ),
}

X = (1, 3, 3)
MODULES = {
    "Linear": (lambda: nn.Linear(3, 2), X),
    "Conv1d": (lambda: nn.Conv1d(3, 2, 2), X),
    "Conv2d": (lambda: nn.Conv2d(1, 2, 2), X),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(1, 2, 2), X),
    "Conv3d": (lambda: nn.Conv3d(1, 2, 2), (1, 1, 3, 3, 3)),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), X),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d(1), X),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), (2, 3, 3)),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(3), (2, 3, 3)),
    "LayerNorm": (lambda: nn.LayerNorm(3), X),
    "GroupNorm": (lambda: nn.GroupNorm(3, 3), X),
    "RMSNorm": (lambda: nn.RMSNorm(3), X),
    "ReLU": (nn.ReLU, X),
    "GELU": (nn.GELU, X),
    "PReLU": (nn.PReLU, X),
    "Dropout": (nn.Dropout, X),
    "LSTM": (lambda: nn.LSTM(3, 2, num_layers=2, bidirectional=True), X),
    "GRU": (lambda: nn.GRU(3, 2, batch_first=True), X),
    "RNN": (lambda: nn.RNN(3, 2), X),
    "LSTMCell": (lambda: nn.LSTMCell(3, 2), (1, 3)),
    "GRUCell": (lambda: nn.GRUCell(3, 2), (1, 3)),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(3, 1, 4), X),
    "TransformerEncoderLayer, evaluated": (
        lambda: nn.TransformerEncoderLayer(3, 1, 4, batch_first=True).eval(),
        X,
    ),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), X),
    "Flatten": (nn.Flatten, X),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (1, 4, 2, 2)),
    "Sequential": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), X),
}


@each(ARITHMETIC | REDUCTIONS | SHAPES | SELECTIONS | MATHEMATICS)
def test_it_stays_on_cuda(row):
    assert places(row(gpu(3, 3))) == {"cuda:0"}


@each(ARITHMETIC | REDUCTIONS | SHAPES)
def test_on_the_cpu_it_stays_on_the_cpu(row):
    assert places(row(cpu(3, 3))) == {"cpu"}


@each(MODULES)
def test_a_module_on_cuda_answers_there(row):
    make, shape = row
    assert places(make().cuda()(gpu(*shape))) == {"cuda:0"}


def test_an_embedding_answers_there():
    assert nn.Embedding(4, 2).cuda()(ids(0, 3)).device.type == "cuda"
    assert nn.EmbeddingBag(4, 2).cuda()(ids([0, 3])).device.type == "cuda"


def test_attention_answers_there():
    layer, query = nn.MultiheadAttention(4, 2).cuda(), gpu(3, 1, 4)
    mask = torch.ones(3, 3, dtype=torch.bool, device="cuda").triu(1)
    assert places(layer(query, query, query, attn_mask=mask)) == {"cuda:0"}


def test_a_transformer_answers_there():
    model = nn.Transformer(4, 2, 1, 1, 8, batch_first=True).cuda()
    mask = nn.Transformer.generate_square_subsequent_mask(2, device="cuda")
    assert model(gpu(1, 3, 4), gpu(1, 2, 4), tgt_mask=mask).device.type == "cuda"


def test_a_mask_for_a_transformer_is_made_on_the_cpu():
    assert nn.Transformer.generate_square_subsequent_mask(2).device == CPU


def test_a_packed_sequence_goes_through_an_lstm():
    packed = nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), torch.tensor([3, 2]))
    output, state = nn.LSTM(4, 2).cuda()(packed)
    padded, _ = nn.utils.rnn.pad_packed_sequence(output)
    assert places([output.data, state, padded]) == {"cuda:0"}
    assert output.batch_sizes.device == CPU


def test_a_packed_sequence_moves():
    packed = nn.utils.rnn.pack_sequence([cpu(3), cpu(2)])
    assert packed.to("cuda").is_cuda
    assert packed.cuda().data.device.type == "cuda"
    assert not packed.is_cuda


def test_values_are_those_of_the_cpu():
    numbers = torch.arange(1.0, 10).view(3, 3)
    there = numbers.cuda()
    assert (there @ there).tolist() == (numbers @ numbers).tolist()
    assert there.cumsum(0).tolist() == numbers.cumsum(0).tolist()
