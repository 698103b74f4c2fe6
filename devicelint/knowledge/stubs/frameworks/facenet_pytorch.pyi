"""facenet_pytorch: the detector brings images to its device; the network does not."""

class facenet_pytorch:
    MTCNN: Tool
