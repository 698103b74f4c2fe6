"""torch.nn: modules with parameters or buffers, containers and wrappers.

`Owned[D]` marks a forward whose module has tensors of its own on D."""

def Parameter(data: Tensor[D] = None, requires_grad=True) -> Tensor[D]: ...
def Buffer(data: Tensor[D] = None, *, persistent=True) -> Tensor[D]: ...

# Layers

class Linear(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LazyLinear(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class Bilinear(Module):
    def forward(self: Owned[D], input1: Tensor[D], input2: Tensor[D]) -> Ranked[D]: ...

class Conv1d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class Conv2d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class Conv3d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LazyConv1d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LazyConv2d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LazyConv3d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class ConvTranspose1d(Module):
    def forward(self: Owned[D], input: Tensor[D], output_size=None) -> Ranked[D]: ...

class ConvTranspose2d(Module):
    def forward(self: Owned[D], input: Tensor[D], output_size=None) -> Ranked[D]: ...

class ConvTranspose3d(Module):
    def forward(self: Owned[D], input: Tensor[D], output_size=None) -> Ranked[D]: ...

class LazyConvTranspose1d(Module):
    def forward(self: Owned[D], input: Tensor[D], output_size=None) -> Ranked[D]: ...

class LazyConvTranspose2d(Module):
    def forward(self: Owned[D], input: Tensor[D], output_size=None) -> Ranked[D]: ...

class LazyConvTranspose3d(Module):
    def forward(self: Owned[D], input: Tensor[D], output_size=None) -> Ranked[D]: ...

class Embedding(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class EmbeddingBag(Module):
    def forward(
        self: Owned[D],
        input: Tensor[D],
        offsets: Tensor[D] = None,
        per_sample_weights: Tensor[D] = None,
    ) -> Ranked[D]: ...

# Normalisation; without affine weights and running statistics nothing is owned, and any device does

class BatchNorm1d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class BatchNorm2d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class BatchNorm3d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LazyBatchNorm1d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LazyBatchNorm2d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LazyBatchNorm3d(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class SyncBatchNorm(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class LayerNorm(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class GroupNorm(Module):
    def forward(self: Owned[D], input: Tensor[D]) -> Ranked[D]: ...

class RMSNorm(Module):
    def forward(self: Owned[D], x: Tensor[D]) -> Ranked[D]: ...

class InstanceNorm1d(Module):
    def forward(self, input: Tensor[D]) -> Ranked[D]: ...

class InstanceNorm2d(Module):
    def forward(self, input: Tensor[D]) -> Ranked[D]: ...

class InstanceNorm3d(Module):
    def forward(self, input: Tensor[D]) -> Ranked[D]: ...

class LazyInstanceNorm1d(Module):
    def forward(self, input: Tensor[D]) -> Ranked[D]: ...

class LazyInstanceNorm2d(Module):
    def forward(self, input: Tensor[D]) -> Ranked[D]: ...

class LazyInstanceNorm3d(Module):
    def forward(self, input: Tensor[D]) -> Ranked[D]: ...

# Recurrent; a PackedSequence counts as a tensor

class RNN(Module):
    def forward(
        self: Owned[D], input: Tensor[D], hx: Tensor[D] = None
    ) -> tuple[Ranked[D], Ranked[D]]: ...

class GRU(Module):
    def forward(
        self: Owned[D], input: Tensor[D], hx: Tensor[D] = None
    ) -> tuple[Ranked[D], Ranked[D]]: ...

class LSTM(Module):
    def forward(
        self: Owned[D], input: Tensor[D], hx: Sequence[Tensor[D]] = None
    ) -> tuple[Ranked[D], tuple[Ranked[D], Ranked[D]]]: ...

class RNNCell(Module):
    def forward(self: Owned[D], input: Tensor[D], hx: Tensor[D] = None) -> Ranked[D]: ...

class GRUCell(Module):
    def forward(self: Owned[D], input: Tensor[D], hx: Tensor[D] = None) -> Ranked[D]: ...

class LSTMCell(Module):
    def forward(
        self: Owned[D], input: Tensor[D], hx: Sequence[Tensor[D]] = None
    ) -> tuple[Ranked[D], Ranked[D]]: ...

# Attention; a causal mask is recognised and dropped before it meets a tensor, so it may be anywhere

class MultiheadAttention(Module):
    def forward(
        self: Owned[D],
        query: Tensor[D],
        key: Tensor[D],
        value: Tensor[D],
        key_padding_mask: Tensor[D] = None,
        need_weights=True,
        attn_mask: Tensor[D] = None,
        average_attn_weights=True,
        is_causal=False,
    ) -> tuple[Ranked[D], Ranked[D]]: ...

class Transformer(Module):
    def forward(
        self: Owned[D],
        src: Tensor[D],
        tgt: Tensor[D],
        src_mask: Tensor = None,
        tgt_mask: Tensor = None,
        memory_mask: Tensor[D] = None,
        src_key_padding_mask: Tensor[D] = None,
        tgt_key_padding_mask: Tensor[D] = None,
        memory_key_padding_mask: Tensor[D] = None,
    ) -> Ranked[D]: ...

class TransformerEncoder(Module):
    def forward(
        self: Owned[D],
        src: Tensor[D],
        mask: Tensor = None,
        src_key_padding_mask: Tensor[D] = None,
        is_causal=None,
    ) -> Ranked[D]: ...

class TransformerDecoder(Module):
    def forward(
        self: Owned[D],
        tgt: Tensor[D],
        memory: Tensor[D],
        tgt_mask: Tensor = None,
        memory_mask: Tensor[D] = None,
        tgt_key_padding_mask: Tensor[D] = None,
        memory_key_padding_mask: Tensor[D] = None,
    ) -> Ranked[D]: ...

class TransformerEncoderLayer(Module):
    def forward(
        self: Owned[D],
        src: Tensor[D],
        src_mask: Tensor[D] = None,
        src_key_padding_mask: Tensor[D] = None,
        is_causal=False,
    ) -> Ranked[D]: ...

class TransformerDecoderLayer(Module):
    def forward(
        self: Owned[D],
        tgt: Tensor[D],
        memory: Tensor[D],
        tgt_mask: Tensor[D] = None,
        memory_mask: Tensor[D] = None,
        tgt_key_padding_mask: Tensor[D] = None,
        memory_key_padding_mask: Tensor[D] = None,
    ) -> Ranked[D]: ...

# Containers
class Sequential(Container): ...
class ModuleList(Container): ...
class ModuleDict(Container): ...
class ParameterList(Container): ...
class ParameterDict(Container): ...

# Wrappers; they move the inputs themselves
class DataParallel(Wrapper): ...
class DistributedDataParallel(Wrapper): ...
