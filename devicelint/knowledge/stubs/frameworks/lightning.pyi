"""Lightning: a Trainer moves the LightningModule and its batches, Fabric moves what it sets up."""

class lightning:
    Fabric: Placer
    LightningModule: Module
    Trainer: Tool

    class Fabric:
        device: Device
        setup: Placed
        setup_module: Placed
        setup_dataloaders: Placed
        setup_optimizers: Same
        to_device: Placed
        all_gather: Gathered
        all_reduce: Gathered

    class Trainer:
        fit: Managed
        validate: Managed
        test: Managed
        predict: Managed

    class fabric:
        Fabric: lightning.Fabric

    class pytorch:
        LightningModule: Module
        Trainer: lightning.Trainer

        class core:
            LightningModule: Module
