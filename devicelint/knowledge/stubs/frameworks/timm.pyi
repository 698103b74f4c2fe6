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
