"""torch.autograd."""

# Since tensors and variables are one, it gives the tensor back.
def Variable(data: Tensor[D], requires_grad=False, volatile=False) -> Tensor[D]: ...
def grad(
    outputs: Tensor[D],
    inputs,
    grad_outputs: Tensor[D] | Scalar = None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
) -> Any: ...
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False) -> None: ...
