"""torch.nn.functional: layers and activations."""

# Activations

def logsigmoid(input: Tensor[D]) -> Tensor[D]: ...
def sigmoid(input: Tensor[D]) -> Tensor[D]: ...
def tanh(input: Tensor[D]) -> Tensor[D]: ...
def softsign(input: Tensor[D]) -> Tensor[D]: ...
def tanhshrink(input: Tensor[D]) -> Tensor[D]: ...
def relu(input: Tensor[D], inplace=False) -> Tensor[D]: ...
def relu6(input: Tensor[D], inplace=False) -> Tensor[D]: ...
def elu(input: Tensor[D], alpha=1.0, inplace=False) -> Tensor[D]: ...
def selu(input: Tensor[D], inplace=False) -> Tensor[D]: ...
def celu(input: Tensor[D], alpha=1.0, inplace=False) -> Tensor[D]: ...
def gelu(input: Tensor[D], approximate="none") -> Tensor[D]: ...
def silu(input: Tensor[D], inplace=False) -> Tensor[D]: ...
def mish(input: Tensor[D], inplace=False) -> Tensor[D]: ...
def leaky_relu(input: Tensor[D], negative_slope=0.01, inplace=False) -> Tensor[D]: ...
def rrelu(
    input: Tensor[D], lower=0.125, upper=0.333, training=False, inplace=False
) -> Tensor[D]: ...
def prelu(input: Tensor[D], weight: Tensor[D]) -> Tensor[D]: ...
def hardtanh(input: Tensor[D], min_val=-1.0, max_val=1.0, inplace=False) -> Tensor[D]: ...
def hardswish(input: Tensor[D], inplace=False) -> Tensor[D]: ...
def hardsigmoid(input: Tensor[D], inplace=False) -> Tensor[D]: ...
def hardshrink(input: Tensor[D], lambd=0.5) -> Tensor[D]: ...
def softshrink(input: Tensor[D], lambd=0.5) -> Tensor[D]: ...
def softplus(input: Tensor[D], beta=1.0, threshold=20.0) -> Tensor[D]: ...
def threshold(input: Tensor[D], threshold, value, inplace=False) -> Tensor[D]: ...
def glu(input: Tensor[D], dim=-1) -> Ranked[D]: ...
def softmax(input: Tensor[D], dim=None, _stacklevel=3, dtype=None) -> Tensor[D]: ...
def softmin(input: Tensor[D], dim=None, _stacklevel=3, dtype=None) -> Tensor[D]: ...
def log_softmax(input: Tensor[D], dim=None, _stacklevel=3, dtype=None) -> Tensor[D]: ...
def gumbel_softmax(logits: Tensor[D], tau=1, hard=False, eps=1e-10, dim=-1) -> Tensor[D]: ...
def relu_(input: Tensor[D]) -> Self: ...
def elu_(input: Tensor[D], alpha=1.0) -> Self: ...
def selu_(input: Tensor[D]) -> Self: ...
def celu_(input: Tensor[D], alpha=1.0) -> Self: ...
def leaky_relu_(input: Tensor[D], negative_slope=0.01) -> Self: ...
def rrelu_(input: Tensor[D], lower=0.125, upper=0.333, training=False) -> Self: ...
def hardtanh_(input: Tensor[D], min_val=-1.0, max_val=1.0) -> Self: ...
def threshold_(input: Tensor[D], threshold, value) -> Self: ...

# Dropout
def dropout(input: Tensor[D], p=0.5, training=True, inplace=False) -> Tensor[D]: ...
def alpha_dropout(input: Tensor[D], p=0.5, training=False, inplace=False) -> Tensor[D]: ...
def dropout1d(input: Tensor[D], p=0.5, training=True, inplace=False) -> Tensor[D]: ...
def dropout2d(input: Tensor[D], p=0.5, training=True, inplace=False) -> Tensor[D]: ...
def dropout3d(input: Tensor[D], p=0.5, training=True, inplace=False) -> Tensor[D]: ...
def feature_alpha_dropout(input: Tensor[D], p=0.5, training=False, inplace=False) -> Tensor[D]: ...

# Linear layers, convolutions and normalisation
def linear(input: Tensor[D], weight: Tensor[D], bias: Tensor[D] = None) -> Ranked[D]: ...
def bilinear(
    input1: Tensor[D], input2: Tensor[D], weight: Tensor[D], bias: Tensor[D] = None
) -> Ranked[D]: ...
def conv1d(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D] = None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
) -> Ranked[D]: ...
def conv2d(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D] = None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
) -> Ranked[D]: ...
def conv3d(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D] = None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
) -> Ranked[D]: ...
def conv_transpose1d(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D] = None,
    stride=1,
    padding=0,
    output_padding=0,
    groups=1,
    dilation=1,
) -> Ranked[D]: ...
def conv_transpose2d(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D] = None,
    stride=1,
    padding=0,
    output_padding=0,
    groups=1,
    dilation=1,
) -> Ranked[D]: ...
def conv_transpose3d(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D] = None,
    stride=1,
    padding=0,
    output_padding=0,
    groups=1,
    dilation=1,
) -> Ranked[D]: ...
def conv_tbc(input: Tensor[D], weight: Tensor[D], bias: Tensor[D], pad=0) -> Ranked[D]: ...
def unfold(input: Tensor[D], kernel_size, dilation=1, padding=0, stride=1) -> Ranked[D]: ...
def fold(
    input: Tensor[D], output_size, kernel_size, dilation=1, padding=0, stride=1
) -> Ranked[D]: ...
def batch_norm(
    input: Tensor[D],
    running_mean: Tensor[D],
    running_var: Tensor[D],
    weight: Tensor[D] = None,
    bias: Tensor[D] = None,
    training=False,
    momentum=0.1,
    eps=1e-05,
) -> Ranked[D]: ...
def instance_norm(
    input: Tensor[D],
    running_mean: Tensor[D] = None,
    running_var: Tensor[D] = None,
    weight: Tensor[D] = None,
    bias: Tensor[D] = None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
) -> Ranked[D]: ...
def group_norm(
    input: Tensor[D], num_groups, weight: Tensor[D] = None, bias: Tensor[D] = None, eps=1e-05
) -> Ranked[D]: ...
def layer_norm(
    input: Tensor[D], normalized_shape, weight: Tensor[D] = None, bias: Tensor[D] = None, eps=1e-05
) -> Ranked[D]: ...
def rms_norm(
    input: Tensor[D], normalized_shape, weight: Tensor[D] = None, eps=None
) -> Ranked[D]: ...
def local_response_norm(input: Tensor[D], size, alpha=0.0001, beta=0.75, k=1.0) -> Ranked[D]: ...
def normalize(input: Tensor[D], p=2.0, dim=1, eps=1e-12) -> Tensor[D]: ...

# Lookups and attention
def embedding(
    input: Tensor[D],
    weight: Tensor[D],
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
) -> Ranked[D]: ...
def embedding_bag(
    input: Tensor[D],
    weight: Tensor[D],
    offsets: Tensor[D] = None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights: Tensor[D] = None,
) -> Ranked[D]: ...
def one_hot(tensor: Tensor[D], num_classes=-1) -> NoGrad[Ranked[D]]: ...
def scaled_dot_product_attention(
    query: Tensor[D],
    key: Tensor[D],
    value: Tensor[D],
    attn_mask: Tensor[D] = None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
) -> Ranked[D]: ...
def multi_head_attention_forward(
    query: Tensor[D],
    key: Tensor[D],
    value: Tensor[D],
    embed_dim_to_check,
    num_heads,
    in_proj_weight: Tensor[D],
    in_proj_bias: Tensor[D],
    bias_k: Tensor[D],
    bias_v: Tensor[D],
    add_zero_attn,
    dropout_p,
    out_proj_weight: Tensor[D],
    out_proj_bias: Tensor[D],
    training=True,
    key_padding_mask: Tensor[D] = None,
    need_weights=True,
    attn_mask: Tensor[D] = None,
    use_separate_proj_weight=False,
    q_proj_weight: Tensor[D] = None,
    k_proj_weight: Tensor[D] = None,
    v_proj_weight: Tensor[D] = None,
    static_k: Tensor[D] = None,
    static_v: Tensor[D] = None,
    average_attn_weights=True,
    is_causal=False,
) -> tuple[Ranked[D], Ranked[D]]: ...

# Pooling
def avg_pool1d(
    input: Tensor[D], kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
) -> Ranked[D]: ...
def avg_pool2d(
    input: Tensor[D], kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
) -> Ranked[D]: ...
def avg_pool3d(
    input: Tensor[D], kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
) -> Ranked[D]: ...
def max_pool1d(
    input: Tensor[D],
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices: Adds[NoGrad[Ranked[D]]] = False,
) -> Ranked[D]: ...
def max_pool2d(
    input: Tensor[D],
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices: Adds[NoGrad[Ranked[D]]] = False,
) -> Ranked[D]: ...
def max_pool3d(
    input: Tensor[D],
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices: Adds[NoGrad[Ranked[D]]] = False,
) -> Ranked[D]: ...
def max_unpool1d(
    input: Tensor[D], indices: Tensor[D], kernel_size, stride=None, padding=0, output_size=None
) -> Ranked[D]: ...
def max_unpool2d(
    input: Tensor[D], indices: Tensor[D], kernel_size, stride=None, padding=0, output_size=None
) -> Ranked[D]: ...
def max_unpool3d(
    input: Tensor[D], indices: Tensor[D], kernel_size, stride=None, padding=0, output_size=None
) -> Ranked[D]: ...
def adaptive_avg_pool1d(input: Tensor[D], output_size) -> Ranked[D]: ...
def adaptive_avg_pool2d(input: Tensor[D], output_size) -> Ranked[D]: ...
def adaptive_avg_pool3d(input: Tensor[D], output_size) -> Ranked[D]: ...
def adaptive_max_pool1d(
    input: Tensor[D], output_size, return_indices: Adds[NoGrad[Ranked[D]]] = False
) -> Ranked[D]: ...
def adaptive_max_pool2d(
    input: Tensor[D], output_size, return_indices: Adds[NoGrad[Ranked[D]]] = False
) -> Ranked[D]: ...
def adaptive_max_pool3d(
    input: Tensor[D], output_size, return_indices: Adds[NoGrad[Ranked[D]]] = False
) -> Ranked[D]: ...
def lp_pool1d(
    input: Tensor[D], norm_type, kernel_size, stride=None, ceil_mode=False
) -> Ranked[D]: ...
def lp_pool2d(
    input: Tensor[D], norm_type, kernel_size, stride=None, ceil_mode=False
) -> Ranked[D]: ...
def lp_pool3d(
    input: Tensor[D], norm_type, kernel_size, stride=None, ceil_mode=False
) -> Ranked[D]: ...
def fractional_max_pool2d(
    input: Tensor[D],
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices: Adds[NoGrad[Ranked[D]]] = False,
    _random_samples: Tensor[D] = None,
) -> Ranked[D]: ...
def fractional_max_pool3d(
    input: Tensor[D],
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices: Adds[NoGrad[Ranked[D]]] = False,
    _random_samples: Tensor[D] = None,
) -> Ranked[D]: ...

# Images and shapes
def interpolate(
    input: Tensor[D], size=None, scale_factor=None, mode="nearest", align_corners=None
) -> Ranked[D]: ...
def upsample(
    input: Tensor[D], size=None, scale_factor=None, mode="nearest", align_corners=None
) -> Ranked[D]: ...
def upsample_bilinear(input: Tensor[D], size=None, scale_factor=None) -> Ranked[D]: ...
def upsample_nearest(input: Tensor[D], size=None, scale_factor=None) -> Ranked[D]: ...
def grid_sample(
    input: Tensor[D], grid: Tensor[D], mode="bilinear", padding_mode="zeros", align_corners=None
) -> Ranked[D]: ...
def affine_grid(theta: Tensor[D], size, align_corners=None) -> Ranked[D]: ...
def pad(input: Tensor[D], pad, mode="constant", value=None) -> Ranked[D]: ...

cosine_similarity = torch.cosine_similarity
pairwise_distance = torch.pairwise_distance
pdist = torch.pdist
pixel_shuffle = torch.pixel_shuffle
pixel_unshuffle = torch.pixel_unshuffle
channel_shuffle = torch.channel_shuffle
native_channel_shuffle = torch.channel_shuffle
