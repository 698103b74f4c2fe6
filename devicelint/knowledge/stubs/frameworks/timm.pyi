"""timm: models are modules on the CPU; its loaders prefetch to the accelerator unless told not to."""

class timm:
    create_model: timm.Model_
    Model_: Model

    class Model_:
        __call__: Output
        forward_features: Output
        forward_head: Output

    class models:
        create_model: timm.Model_

        class beit:
            Beit: timm.Model_

        class convnext:
            ConvNeXt: timm.Model_

        class efficientnet:
            EfficientNet: timm.Model_

        class mlp_mixer:
            MlpMixer: timm.Model_

        class resnet:
            ResNet: timm.Model_

        class swin_transformer:
            SwinTransformer: timm.Model_

        class vision_transformer:
            VisionTransformer: timm.Model_

    class data:
        create_loader: Prefetching
        create_dataset: Dataset
        ImageDataset: Dataset
        # Where it puts the batch is said when it is made.
        Mixup: Unknown

        class loader:
            create_loader: Prefetching

    class loss:
        # Their own tensors are made beside the inputs.
        anything: Transformation
