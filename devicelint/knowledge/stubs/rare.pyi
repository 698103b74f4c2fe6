"""torch: quantisation and the kernels of one library, which no sample reaches; see derive_knowledge.toml."""

# FBGEMM: kernels of the CPU

def fbgemm_linear_fp16_weight(
    input: Tensor[CPU], packed_weight: Tensor[CPU], bias: Tensor[CPU]
) -> View[CPU]: ...
def fbgemm_linear_fp16_weight_fp32_activation(
    input: Tensor[CPU], packed_weight: Tensor[CPU], bias: Tensor[CPU]
) -> View[CPU]: ...
def fbgemm_linear_int8_weight(
    input: Tensor[CPU],
    weight: Tensor[CPU],
    packed: Tensor[CPU],
    col_offsets: Tensor[CPU],
    weight_scale,
    weight_zero_point,
    bias: Tensor[CPU],
) -> View[CPU]: ...
def fbgemm_linear_quantize_weight(input: Tensor[CPU]) -> Any: ...
def fbgemm_pack_gemm_matrix_fp16(input: Tensor[CPU]) -> View[CPU]: ...
def fbgemm_pack_quantized_matrix(input: Tensor[CPU]) -> View[CPU]: ...
def quantized_gru_cell(
    input: Tensor[CPU], hx: Tensor[CPU], w_ih: Tensor[CPU], w_hh: Tensor[CPU]
) -> View[CPU]: ...
def quantized_lstm_cell(
    input: Tensor[CPU], hx: Sequence[Tensor[CPU]], w_ih: Tensor[CPU], w_hh: Tensor[CPU]
) -> tuple[View[CPU], View[CPU]]: ...
def quantized_rnn_relu_cell(
    input: Tensor[CPU], hx: Tensor[CPU], w_ih: Tensor[CPU], w_hh: Tensor[CPU]
) -> View[CPU]: ...
def quantized_batch_norm(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D],
    mean: Tensor[D],
    var: Tensor[D],
    eps,
    output_scale,
    output_zero_point,
) -> View[D]: ...
def quantized_max_pool3d(
    input: Tensor[D], kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False
) -> View[D]: ...

# SyncBatchNorm's steps: kernels of accelerators

def batch_norm_stats(input: Tensor[D], eps) -> tuple[View[D], View[D]]: ...
def batch_norm_elemt(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D],
    mean: Tensor[D],
    invstd: Tensor[D],
    eps,
) -> View[D]: ...
def batch_norm_backward_reduce(
    grad_out: Tensor[D],
    input: Tensor[D],
    mean: Tensor[D],
    invstd: Tensor[D],
    weight: Tensor[D],
    input_g,
    weight_g,
    bias_g,
) -> tuple[View[D], ...]: ...
def batch_norm_backward_elemt(
    grad_out: Tensor[D],
    input: Tensor[D],
    mean: Tensor[D],
    invstd: Tensor[D],
    weight: Tensor[D],
    sum_dy: Tensor[D],
    sum_dy_xmu: Tensor[D],
    count: Tensor[D],
) -> View[D]: ...
def batch_norm_gather_stats(
    input: Tensor[D],
    mean: Tensor[D],
    invstd: Tensor[D],
    running_mean: Tensor[D],
    running_var: Tensor[D],
    momentum,
    eps,
    count,
) -> tuple[View[D], View[D]]: ...
def batch_norm_gather_stats_with_counts(
    input: Tensor[D],
    mean: Tensor[D],
    invstd: Tensor[D],
    running_mean: Tensor[D],
    running_var: Tensor[D],
    momentum,
    eps,
    counts: Tensor[D],
) -> tuple[View[D], View[D]]: ...

# MIOpen: kernels of AMD's accelerators

def miopen_batch_norm(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D],
    running_mean: Tensor[D],
    running_var: Tensor[D],
    training,
    exponential_average_factor,
    epsilon,
) -> tuple[View[D], View[D], View[D]]: ...
def miopen_convolution(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D],
    padding,
    stride,
    dilation,
    groups,
    benchmark,
    deterministic,
) -> View[D]: ...
def miopen_convolution_add_relu(
    input: Tensor[D],
    weight: Tensor[D],
    z: Tensor[D],
    alpha,
    bias: Tensor[D],
    stride,
    padding,
    dilation,
    groups,
) -> View[D]: ...
def miopen_convolution_relu(
    input: Tensor[D], weight: Tensor[D], bias: Tensor[D], stride, padding, dilation, groups
) -> View[D]: ...
def miopen_convolution_transpose(
    input: Tensor[D],
    weight: Tensor[D],
    bias: Tensor[D],
    padding,
    output_padding,
    stride,
    dilation,
    groups,
    benchmark,
    deterministic,
) -> View[D]: ...
def miopen_rnn(
    input: Tensor[D],
    weight: Sequence[Tensor[D]],
    weight_stride0,
    hx: Tensor[D],
    cx: Tensor[D],
    mode,
    hidden_size,
    num_layers,
    batch_first,
    dropout,
    train,
    bidirectional,
    batch_sizes,
    dropout_state: Tensor[D],
) -> tuple[View[D], ...]: ...

# What a sparse tensor holds, copied

def indices_copy(input: Tensor[D]) -> NoGrad[View[D]]: ...
def values_copy(input: Tensor[D]) -> View[D]: ...

# Of a sparse tensor alone
def native_norm(input: Tensor[D], p=2, dim=None, keepdim=False, dtype=None) -> View[D]: ...

miopen_depthwise_convolution = miopen_convolution
fbgemm_linear_int8_weight_fp32_activation = fbgemm_linear_int8_weight
quantized_rnn_tanh_cell = quantized_rnn_relu_cell
