"""accelerate: what an Accelerator prepares lies on its device, and so does what its loaders yield."""

class accelerate:
    Accelerator: Placer

    class Accelerator:
        device: Device
        prepare: Placed
        prepare_model: Placed
        prepare_data_loader: Placed
        prepare_optimizer: Same
        prepare_scheduler: Same
        unwrap_model: Same
        gather: Gathered
        gather_for_metrics: Gathered
        reduce: Gathered
        pad_across_processes: Gathered
        skip_first_batches: Same
        free_memory: Unknown
        autocast: Unknown

    class utils:
        send_to_device: MovedTo

    skip_first_batches: Same
    dispatch_model: Dispatched
    load_checkpoint_and_dispatch: Dispatched
    cpu_offload: Dispatched
    disk_offload: Dispatched
