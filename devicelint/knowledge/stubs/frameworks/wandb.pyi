"""wandb: a run takes notes of a model, and moves nothing."""

class wandb:
    watch: Nothing
    log: Nothing
    save: Nothing
