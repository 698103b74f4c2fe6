"""ignite: what a supervised trainer is told a device for brings each batch there, and no model."""

class ignite:
    class engine:
        Engine: Tool
        create_supervised_trainer: SupervisedTrainer
        create_supervised_evaluator: SupervisedEvaluator
        supervised_training_step: Unknown
        _prepare_batch: BatchMovedTo
        Supervised_: Tool

        class Engine:
            run: RunOver

        # Told no device, it gives the model what the loader yields.
        class Supervised_:
            run: RunUnmoved

        class engine:
            Engine: ignite.engine.Engine

    class utils:
        convert_tensor: MovedTo

    class distributed:
        device: OwnDevice
        auto_model: AutoModel
        auto_optim: Same
        auto_dataloader: AutoLoader
        get_rank: Hosted
        get_local_rank: Hosted
        get_world_size: Hosted
        all_reduce: Unknown

        class auto:
            auto_model: AutoModel
            auto_optim: Same
            auto_dataloader: AutoLoader
