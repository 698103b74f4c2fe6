"""diffusers: a pipeline brings prompts, images and latents to its device; its parts are models."""

class diffusers:
    any_Pipeline: diffusers.Pipeline_
    AutoPipeline_any: diffusers.Pipeline_
    Pipeline_: Tool

    class Pipeline_:
        from_pretrained: Itself
        from_single_file: Itself
        from_pipe: Itself
