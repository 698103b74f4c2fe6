"""In which precision operations run inside autocast, as ATen says it of every accelerator."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

LOWER: Final = """
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
    _convolution prelu addmm addmv addr matmul __matmul__ __rmatmul__ einsum mm mv vecdot linear
    addbmm baddbmm bmm chain_matmul multi_dot lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
    scaled_dot_product_attention lstm gru rnn_tanh rnn_relu
""".split()
"""Run in the dtype of the region (AT_FORALL_LOWER_PRECISION_FP in ATen/autocast_mode.h).

The last four run so as well: cuDNN's recurrent layers are cast whole (ATen/cudnn/AutocastRNN.cpp).
"""

SINGLE: Final = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow __pow__
    __rpow__ softplus layer_norm native_layer_norm group_norm frobenius_norm nuclear_norm
    cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d nll_loss_nd
    cross_entropy_loss hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss
    margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss
    multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp
    upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
    upsample_trilinear3d upsample_bicubic2d norm prod softmax log_softmax cumprod cumsum vector_norm
    matrix_norm sum
""".split()
"""Run in float32 (AT_FORALL_FP32 and AT_FORALL_FP32_SET_OPT_DTYPE there).

`cross_entropy_loss` and `nll_loss_nd` are made of operations that do.
"""

WIDEST: Final = """
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add cat
    concat concatenate stack
""".split()
"""Run in the widest dtype among what they are given (AT_FORALL_PROMOTE there)."""

REFUSED: Final = """\
torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.
Many models use a sigmoid layer right before the binary cross entropy layer.
In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits
or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are
safe to autocast."""
"""What is said of `binary_cross_entropy` (ATen/autocast_mode.cpp)."""

HOLDERS: Final = (torch._C._VariableFunctions, torch, Tensor, torch._C._nn, torch.linalg)
"""Where the operations are found."""


def table() -> dict[Any, str]:
    """What to do with a call by function: `lower`, `single`, `widest` or `refuse`."""
    found = {}
    for policy, names in (("lower", LOWER), ("single", SINGLE), ("widest", WIDEST)):
        for name in names:
            for holder in HOLDERS:
                if hasattr(holder, name):
                    found[getattr(holder, name)] = policy
    return {**found, torch._C._nn.binary_cross_entropy: "refuse"}
