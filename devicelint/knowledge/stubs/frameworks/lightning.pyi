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

        class utilities:
            move_data_to_device: MovedTo

    class pytorch:
        LightningModule: Module
        Trainer: lightning.Trainer

        class utilities:
            move_data_to_device: MovedTo

        class core:
            LightningModule: Module

        class callbacks:
            ModelCheckpoint: lightning.Checkpoints_

            class model_checkpoint:
                ModelCheckpoint: lightning.Checkpoints_

    Checkpoints_: Tool

    class Checkpoints_:
        # Where it has saved the weights of this very run.
        best_model_path: OwnFile
        last_model_path: OwnFile
        kth_best_model_path: OwnFile
