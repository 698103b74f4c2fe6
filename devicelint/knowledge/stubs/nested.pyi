"""torch.nested: without a device, what is made of tensors is where the first of them is."""

def nested_tensor(
    tensor_list: Sequence[Anywhere[D]],
    *,
    dtype=None,
    layout=None,
    device: Device = D,
    requires_grad=False,
    pin_memory=False,
) -> RankedNew: ...
def as_nested_tensor(
    ts: Sequence[Anywhere[D]], dtype=None, device: Device = D, layout=None
) -> RankedNew: ...
