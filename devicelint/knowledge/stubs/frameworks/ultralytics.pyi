"""ultralytics: a model brings what it is given to its device, and its results are objects."""

class ultralytics:
    YOLO: Tool
    YOLOWorld: Tool
    YOLOE: Tool
    RTDETR: Tool
    SAM: Tool
    FastSAM: Tool
    NAS: Tool
