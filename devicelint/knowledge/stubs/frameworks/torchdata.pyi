"""torchdata: loaders whose state is how far they came."""

class torchdata:
    StatefulDataLoader: Loader

    class stateful_dataloader:
        StatefulDataLoader: Loader
