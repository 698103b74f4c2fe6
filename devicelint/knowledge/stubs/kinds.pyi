"""Classes and functions beside tensors and modules, and what kind of thing each makes.

Nested classes stand for modules. `Unknown` takes a name out of its module's default.
"""

class torch:
    Generator: Generator
    no_grad: GradMode
    enable_grad: GradMode
    inference_mode: GradMode
    set_grad_enabled: GradMode
    autocast: Autocast

    class autograd:
        no_grad: GradMode
        enable_grad: GradMode
        inference_mode: GradMode
        set_grad_enabled: GradMode
        detect_anomaly: GradMode

    class amp:
        autocast: Autocast
        GradScaler: Scaler

    class cuda:
        class amp:
            autocast: Autocast
            GradScaler: Scaler

    class cpu:
        class amp:
            autocast: Autocast
            GradScaler: Scaler

    class optim:
        Optimizer: Optimizer
        ASGD: Optimizer
        Adadelta: Optimizer
        Adafactor: Optimizer
        Adagrad: Optimizer
        Adam: Optimizer
        AdamW: Optimizer
        Adamax: Optimizer
        LBFGS: Optimizer
        Muon: Optimizer
        NAdam: Optimizer
        RAdam: Optimizer
        RMSprop: Optimizer
        Rprop: Optimizer
        SGD: Optimizer
        SparseAdam: Optimizer

        class lr_scheduler:
            LRScheduler: Scheduler
            _LRScheduler: Scheduler
            ChainedScheduler: Scheduler
            ConstantLR: Scheduler
            CosineAnnealingLR: Scheduler
            CosineAnnealingWarmRestarts: Scheduler
            CyclicLR: Scheduler
            ExponentialLR: Scheduler
            LambdaLR: Scheduler
            LinearLR: Scheduler
            MultiStepLR: Scheduler
            MultiplicativeLR: Scheduler
            OneCycleLR: Scheduler
            PolynomialLR: Scheduler
            ReduceLROnPlateau: Scheduler
            SequentialLR: Scheduler
            StepLR: Scheduler

        class swa_utils:
            AveragedModel: SwaModel
            SWALR: Scheduler

    class utils:
        class data:
            DataLoader: Loader
            Dataset: Dataset
            IterableDataset: Dataset
            TensorDataset: Dataset
            ConcatDataset: Dataset
            ChainDataset: Dataset
            StackDataset: Dataset
            Subset: Dataset
            IterDataPipe: Dataset
            MapDataPipe: Dataset
            Sampler: Sampler
            BatchSampler: Sampler
            RandomSampler: Sampler
            SequentialSampler: Sampler
            SubsetRandomSampler: Sampler
            WeightedRandomSampler: Sampler
            DistributedSampler: Sampler

        class tensorboard:
            SummaryWriter: Writer

    class distributed:
        anything: Distributed

    class distributions:
        # A distribution lives where its parameters do.
        anything: Distribution
        kl_divergence: Unknown
        register_kl: Unknown

class torchvision:
    class models:
        # Every function in lower case that makes a model makes it on the CPU.
        anything: Model
        list_models: Unknown
        get_weight: Unknown
        get_model_weights: Unknown
        get_model_builder: Unknown
        # Returns a dict, or works on the modules of another model.
        class feature_extraction:
            anything: Unknown

    class datasets:
        anything: Dataset

        class utils:
            anything: Unknown

    class transforms:
        anything: Transform

        class functional:
            anything: Unknown

        class v2:
            anything: Transform

            class functional:
                anything: Unknown
