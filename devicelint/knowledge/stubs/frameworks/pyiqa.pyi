"""pyiqa: a metric brings images to its device."""

class pyiqa:
    create_metric: Tool
    InferenceModel: Tool
