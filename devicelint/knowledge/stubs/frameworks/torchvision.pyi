"""torchvision: models and transforms are modules on the CPU, what is read from files is there too."""

class torchvision:
    class models:
        # Every function and class that is not told apart makes a model on the CPU.
        anything: torchvision.Classifier
        # In training they give a named tuple of outputs.
        inception_v3: Model
        googlenet: Model
        list_models: Unknown
        get_weight: Unknown
        get_model: Model
        get_model_weights: Unknown
        get_model_builder: Unknown
        any_Weights: Unknown

        class detection:
            anything: Model

        class segmentation:
            anything: Model

        class optical_flow:
            anything: Model

        class quantization:
            anything: Model

        # Returns a dict, or works on the modules of another model.
        class feature_extraction:
            anything: Unknown

    Classifier: Model

    class Classifier:
        __call__: Output
        # The parts of which its forward is made, each called with a tensor.
        features: Part
        classifier: Part
        avgpool: Part
        conv1: Part
        bn1: Part
        relu: Part
        maxpool: Part
        layer1: Part
        layer2: Part
        layer3: Part
        layer4: Part
        fc: Part
        heads: Part
        children: Parts

    Part: Model

    class Part:
        __call__: Output
        children: Parts

    class datasets:
        anything: Dataset

        class utils:
            anything: Unknown

    class transforms:
        # Of a tensor they make one beside it, of a picture another picture.
        anything: torchvision.transforms.Step_
        ToTensor: torchvision.transforms.ToTensor_
        PILToTensor: torchvision.transforms.ToTensor_
        ToPILImage: torchvision.transforms.ToPicture_
        FiveCrop: Transform
        TenCrop: Transform
        Lambda: Transform
        InterpolationMode: Unknown
        AutoAugmentPolicy: Unknown
        Compose: torchvision.transforms.Compose_
        ToTensor_: Tool
        ToPicture_: Tool
        Compose_: Tool
        Step_: Tool

        class Step_:
            __call__: Beside

        class ToPicture_:
            __call__: Hosted

        class ToTensor_:
            __call__: Image

        class Compose_:
            __call__: Composed

        class functional:
            anything: Beside
            to_tensor: Image
            pil_to_tensor: Image
            to_pil_image: Hosted
            get_image_size: Hosted
            get_dimensions: Hosted
            get_image_num_channels: Hosted
            five_crop: Unknown
            ten_crop: Unknown
            InterpolationMode: Unknown

        class v2:
            anything: Transform
            PILToTensor: torchvision.transforms.ToTensor_
            ToTensor: torchvision.transforms.ToTensor_
            ToImage: torchvision.transforms.ToTensor_
            Compose: torchvision.transforms.Compose_

            class functional:
                anything: Unknown
                pil_to_tensor: Image
                to_image: Image

    class io:
        read_image: Image
        decode_image: Image
        decode_jpeg: Unknown
        decode_png: Image
        read_file: Image
