"""einops: its layers are modules; its functions have signatures of their own."""

class einops:
    class layers:
        class torch:
            anything: Unknown
            # Nothing in them has a device.
            Rearrange: einops.Layer_
            Reduce: einops.Layer_
            EinMix: einops.EinMix_

    EinMix_: Model
    Layer_: Transformation

    class Layer_:
        __call__: Beside

    class EinMix_:
        __call__: Output
