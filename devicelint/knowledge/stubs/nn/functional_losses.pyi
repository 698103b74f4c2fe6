"""torch.nn.functional: losses, 0-dim unless reduction="none"."""

# The kernels of CUDA take no 0-dim CPU tensor
def mse_loss(
    input: Tensor[D],
    target: Tensor[D],
    size_average=None,
    reduce=None,
    reduction="mean",
    weight: Tensor[D] | Scalar = None,
) -> Loss[D]: ...
def smooth_l1_loss(
    input: Tensor[D],
    target: Tensor[D],
    size_average=None,
    reduce=None,
    reduction="mean",
    beta=1.0,
) -> Loss[D]: ...
def huber_loss(
    input: Tensor[D],
    target: Tensor[D],
    reduction="mean",
    delta=1.0,
    weight: Tensor[D] | Scalar = None,
) -> Loss[D]: ...

# The operands are subtracted, so that a 0-dim CPU target stands beside a 0-dim input
def l1_loss(
    input: Tensor[D] | Scalar,
    target: Tensor[D] | Scalar,
    size_average=None,
    reduce=None,
    reduction="mean",
    weight: Tensor[D] | Scalar = None,
) -> Loss[D]: ...
def binary_cross_entropy_with_logits(
    input: Tensor[D] | Scalar,
    target: Tensor[D],
    weight: Tensor[D] | Scalar = None,
    size_average=None,
    reduce=None,
    reduction="mean",
    pos_weight: Tensor[D] | Scalar = None,
) -> Loss[D]: ...
def kl_div(
    input: Tensor[D] | Scalar,
    target: Tensor[D] | Scalar,
    size_average=None,
    reduce=None,
    reduction="mean",
    log_target=False,
) -> Loss[D]: ...
def poisson_nll_loss(
    input: Tensor[D] | Scalar,
    target: Tensor[D] | Scalar,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-08,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def gaussian_nll_loss(
    input: Tensor[D] | Scalar,
    target: Tensor[D] | Scalar,
    var: Tensor[D] | Scalar,
    full=False,
    eps=1e-06,
    reduction="mean",
) -> Loss[D]: ...
def soft_margin_loss(
    input: Tensor[D],
    target: Tensor[D] | Scalar,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def hinge_embedding_loss(
    input: Tensor[D] | Scalar,
    target: Tensor[D] | Scalar,
    margin=1.0,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def margin_ranking_loss(
    input1: Tensor[D] | Scalar,
    input2: Tensor[D] | Scalar,
    target: Tensor[D] | Scalar,
    margin=0,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def cosine_embedding_loss(
    input1: Tensor[D],
    input2: Tensor[D],
    target: Tensor[D] | Scalar,
    margin=0,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def multilabel_soft_margin_loss(
    input: Tensor[D] | Scalar,
    target: Tensor[D] | Scalar,
    weight: Tensor[D] | Scalar = None,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...

# Exact
def binary_cross_entropy(
    input: Tensor[D],
    target: Tensor[D],
    weight: Tensor[D] = None,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def cross_entropy(
    input: Tensor[D],
    target: Tensor[D],
    weight: Tensor[D] = None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
) -> Loss[D]: ...
def nll_loss(
    input: Tensor[D],
    target: Tensor[D],
    weight: Tensor[D] = None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def linear_cross_entropy(
    input: Tensor[D],
    linear_weight: Tensor[D],
    target: Tensor[D],
    *,
    linear_bias: Tensor[D] = None,
    weight: Tensor[D] = None,
    ignore_index=-100,
    reduction="mean",
    label_smoothing=0.0,
) -> Loss[D]: ...
def multi_margin_loss(
    input: Tensor[D],
    target: Tensor[D],
    p=1,
    margin=1.0,
    weight: Tensor[D] = None,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def multilabel_margin_loss(
    input: Tensor[D], target: Tensor[D], size_average=None, reduce=None, reduction="mean"
) -> Loss[D]: ...
def triplet_margin_loss(
    anchor: Tensor[D],
    positive: Tensor[D],
    negative: Tensor[D],
    margin=1.0,
    p=2,
    eps=1e-06,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
) -> Loss[D]: ...
def triplet_margin_with_distance_loss(
    anchor: Tensor[D],
    positive: Tensor[D],
    negative: Tensor[D],
    *,
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",
) -> Loss[D]: ...

# Targets and lengths are moved to where the kernel wants them.
def ctc_loss(
    log_probs: Tensor[D],
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank=0,
    reduction="mean",
    zero_infinity=False,
) -> Loss[D]: ...
