"""torch: new tensors.

Without `device=` they are on the default device, or follow the tensor they are made like.
`requires_grad=True` makes them require grad."""

def arange(
    start=0, end=None, step=1, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[RankedNew]: ...
def range(
    start=0, end=None, step=1, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[RankedNew]: ...
def linspace(
    start: Tensor,
    end: Tensor,
    steps=None,
    *,
    dtype=None,
    device: Device = None,
    requires_grad=False,
) -> NoGrad[RankedNew]: ...
def logspace(
    start: Tensor,
    end: Tensor,
    steps=None,
    base=10.0,
    *,
    dtype=None,
    device: Device = None,
    requires_grad=False,
) -> NoGrad[RankedNew]: ...
def eye(
    n: Size, m: Size = None, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[RankedNew]: ...
def empty(*size: Size, dtype=None, device: Device = None, requires_grad=False) -> NoGrad[New]: ...
def ones(*size: Size, dtype=None, device: Device = None, requires_grad=False) -> NoGrad[New]: ...
def zeros(*size: Size, dtype=None, device: Device = None, requires_grad=False) -> NoGrad[New]: ...
def rand(
    *size: Size, generator: Generator = None, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[New]: ...
def randn(
    *size: Size, generator: Generator = None, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[New]: ...
def full(
    size: Size, fill_value, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[New]: ...
def empty_strided(
    size: Size, stride, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[New]: ...
def empty_permuted(
    size: Size, physical_layout, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[New]: ...
def randint(
    low,
    high: Size = None,
    size: Size = None,
    *,
    generator: Generator = None,
    dtype=None,
    device: Device = None,
    requires_grad=False,
) -> NoGrad[New]: ...
def randperm(
    n, *, generator: Generator = None, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[RankedNew]: ...
def tril_indices(row, col, offset=0, *, dtype=None, device: Device = None) -> NoGrad[RankedNew]: ...
def triu_indices(row, col, offset=0, *, dtype=None, device: Device = None) -> NoGrad[RankedNew]: ...
def normal(
    mean: Tensor[D],
    std: Tensor[D] = 1,
    size: Size = None,
    *,
    generator: Generator = None,
    dtype=None,
    device: Device = D,
    requires_grad=False,
) -> New: ...
def scalar_tensor(
    s, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[ZeroDimNew]: ...
def bartlett_window(
    window_length, periodic=True, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[RankedNew]: ...
def blackman_window(
    window_length, periodic=True, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[RankedNew]: ...
def hann_window(
    window_length, periodic=True, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[RankedNew]: ...
def hamming_window(
    window_length,
    periodic=True,
    alpha=0.54,
    beta=0.46,
    *,
    dtype=None,
    device: Device = None,
    requires_grad=False,
) -> NoGrad[RankedNew]: ...
def kaiser_window(
    window_length,
    periodic=True,
    beta=12.0,
    *,
    dtype=None,
    device: Device = None,
    requires_grad=False,
) -> NoGrad[RankedNew]: ...

# From data: a tensor keeps its device, anything else is read into the default one
def tensor(
    data: Data, *, dtype=None, device: Device = None, requires_grad=False
) -> NoGrad[New]: ...
def as_tensor(data: Data, dtype=None, device: Device = None) -> New: ...
def asarray(
    obj: Data, *, dtype=None, device: Device = None, copy=None, requires_grad=False
) -> New: ...
def from_numpy(ndarray) -> NoGrad[Ranked[CPU]]: ...
def frombuffer(
    buffer, *, dtype, count=-1, offset=0, requires_grad=False
) -> NoGrad[Ranked[CPU]]: ...
def from_file(filename, shared=None, size=0, *, dtype=None) -> NoGrad[Ranked[CPU]]: ...
def from_dlpack(ext_tensor) -> Any: ...
def sparse_coo_tensor(
    indices: Tensor[D],
    values: Tensor[D],
    size: Size = None,
    *,
    dtype=None,
    device: Device = D,
    requires_grad=False,
) -> NoGrad[RankedNew]: ...
def sparse_csr_tensor(
    crow_indices: Tensor[D],
    col_indices: Tensor[D],
    values: Tensor[D],
    size: Size = None,
    *,
    dtype=None,
    device: Device = D,
    requires_grad=False,
) -> NoGrad[RankedNew]: ...

# Like another tensor
def empty_like(
    input: Tensor[D], *, dtype=None, device: Device = D, requires_grad=False
) -> NoGrad[LikeNew]: ...
def full_like(
    input: Tensor[D], fill_value, *, dtype=None, device: Device = D, requires_grad=False
) -> NoGrad[LikeNew]: ...
def ones_like(
    input: Tensor[D], *, dtype=None, device: Device = D, requires_grad=False
) -> NoGrad[LikeNew]: ...
def zeros_like(
    input: Tensor[D], *, dtype=None, device: Device = D, requires_grad=False
) -> NoGrad[LikeNew]: ...
def rand_like(
    input: Tensor[D],
    *,
    generator: Generator = None,
    dtype=None,
    device: Device = D,
    requires_grad=False,
) -> NoGrad[LikeNew]: ...
def randn_like(
    input: Tensor[D],
    *,
    generator: Generator = None,
    dtype=None,
    device: Device = D,
    requires_grad=False,
) -> NoGrad[LikeNew]: ...
def randint_like(
    input: Tensor[D],
    low,
    high=None,
    *,
    generator: Generator = None,
    dtype=None,
    device: Device = D,
    requires_grad=False,
) -> NoGrad[LikeNew]: ...
def bernoulli(input: Tensor[D], p=None, *, generator: Generator = None) -> Tensor[D]: ...
def poisson(input: Tensor[D], generator: Generator = None) -> Tensor[D]: ...
def binomial(count: Tensor[D], prob: Tensor[D], generator: Generator = None) -> Tensor[D]: ...
def multinomial(
    input: Tensor[D], num_samples, replacement=False, *, generator: Generator = None
) -> NoGrad[Ranked[D]]: ...

# Types as constructors: a size, or data; on the CPU whatever the default device is
def FloatTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def DoubleTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def HalfTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def BFloat16Tensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def ByteTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def CharTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def ShortTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def IntTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def LongTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
def BoolTensor(*args: Data) -> NoGrad[Ranked[CPU]]: ...
