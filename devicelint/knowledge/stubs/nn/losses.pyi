"""torch.nn: losses. Their results are 0-dim unless they are made with reduction="none"."""

class MSELoss(LossModule):
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class L1Loss(LossModule):
    def forward(self, input: Tensor[D] | Scalar, target: Tensor[D] | Scalar) -> Loss[D]: ...

class SmoothL1Loss(LossModule):
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class HuberLoss(LossModule):
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class KLDivLoss(LossModule):
    def forward(self, input: Tensor[D] | Scalar, target: Tensor[D] | Scalar) -> Loss[D]: ...

class SoftMarginLoss(LossModule):
    def forward(self, input: Tensor[D], target: Tensor[D] | Scalar) -> Loss[D]: ...

class HingeEmbeddingLoss(LossModule):
    def forward(self, input: Tensor[D] | Scalar, target: Tensor[D] | Scalar) -> Loss[D]: ...

class PoissonNLLLoss(LossModule):
    def forward(self, log_input: Tensor[D] | Scalar, target: Tensor[D] | Scalar) -> Loss[D]: ...

class GaussianNLLLoss(LossModule):
    def forward(
        self, input: Tensor[D] | Scalar, target: Tensor[D] | Scalar, var: Tensor[D] | Scalar
    ) -> Loss[D]: ...

class MarginRankingLoss(LossModule):
    def forward(
        self, input1: Tensor[D] | Scalar, input2: Tensor[D] | Scalar, target: Tensor[D] | Scalar
    ) -> Loss[D]: ...

class CosineEmbeddingLoss(LossModule):
    def forward(
        self, input1: Tensor[D], input2: Tensor[D], target: Tensor[D] | Scalar
    ) -> Loss[D]: ...

class MultiLabelMarginLoss(LossModule):
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class TripletMarginLoss(LossModule):
    def forward(self, anchor: Tensor[D], positive: Tensor[D], negative: Tensor[D]) -> Loss[D]: ...

class TripletMarginWithDistanceLoss(LossModule):
    def forward(self, anchor: Tensor[D], positive: Tensor[D], negative: Tensor[D]) -> Loss[D]: ...

class CTCLoss(LossModule):
    def forward(
        self, log_probs: Tensor[D], targets: Tensor, input_lengths: Tensor, target_lengths: Tensor
    ) -> Loss[D]: ...

# A weight given to the constructor becomes a buffer, which moves with the module

class CrossEntropyLoss(LossModule):
    def __init__(
        self,
        weight: Buffer = None,
        size_average=None,
        ignore_index=-100,
        reduce=None,
        reduction="mean",
        label_smoothing=0.0,
    ) -> None: ...
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class NLLLoss(LossModule):
    def __init__(
        self,
        weight: Buffer = None,
        size_average=None,
        ignore_index=-100,
        reduce=None,
        reduction="mean",
    ) -> None: ...
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class NLLLoss2d(NLLLoss): ...

class BCELoss(LossModule):
    def __init__(
        self, weight: Buffer = None, size_average=None, reduce=None, reduction="mean"
    ) -> None: ...
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class BCEWithLogitsLoss(LossModule):
    def __init__(
        self,
        weight: Buffer = None,
        size_average=None,
        reduce=None,
        reduction="mean",
        pos_weight: Buffer = None,
    ) -> None: ...
    def forward(self, input: Tensor[D] | Scalar, target: Tensor[D]) -> Loss[D]: ...

class MultiMarginLoss(LossModule):
    def __init__(
        self,
        p=1,
        margin=1.0,
        weight: Buffer = None,
        size_average=None,
        reduce=None,
        reduction="mean",
    ) -> None: ...
    def forward(self, input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...

class MultiLabelSoftMarginLoss(LossModule):
    def __init__(
        self, weight: Buffer = None, size_average=None, reduce=None, reduction="mean"
    ) -> None: ...
    def forward(self, input: Tensor[D] | Scalar, target: Tensor[D] | Scalar) -> Loss[D]: ...

# With parameters of their own

class AdaptiveLogSoftmaxWithLoss(Module):
    def forward(
        self: Owned[D], input: Tensor[D], target: Tensor[D]
    ) -> tuple[View[D], ZeroDim[D]]: ...

class LinearCrossEntropyLoss(LossModule):
    def forward(self: Owned[D], input: Tensor[D], target: Tensor[D]) -> Loss[D]: ...
