"""Classes and functions beside tensors and modules, and what kind of thing each makes.

Nested classes stand for modules. `Unknown` takes a name out of its module's default. What other
libraries have lies in `frameworks`, one file for each.
"""

class torch:
    Generator: Generator
    no_grad: GradMode
    enable_grad: GradMode
    inference_mode: GradMode
    set_grad_enabled: GradMode
    autocast: Autocast

    class nn:
        Module: Module

        class modules:
            Module: Module

            class module:
                Module: Module

            class loss:
                _Loss: Module
                _WeightedLoss: Module

    class jit:
        ScriptModule: Module

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
