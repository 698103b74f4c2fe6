"""torchtext of old: iterators yield batches on the device that they are given."""

class torchtext:
    class data:
        BucketIterator: DeviceLoader
        Iterator: DeviceLoader
        BPTTIterator: DeviceLoader

        class BucketIterator:
            splits: DeviceLoaders

        class Iterator:
            splits: DeviceLoaders

        class BPTTIterator:
            splits: DeviceLoaders

    class legacy:
        class data:
            BucketIterator: DeviceLoader
            Iterator: DeviceLoader
            BPTTIterator: DeviceLoader

            class BucketIterator:
                splits: DeviceLoaders

            class Iterator:
                splits: DeviceLoaders

            class BPTTIterator:
                splits: DeviceLoaders
