"""transformers: tokenizers and processors give tensors on the CPU, in a dict that moves in place."""

class transformers:
    PreTrainedModel: Module
    # No modules, though named as such are.
    TF_any: Unknown
    Flax_any: Unknown
    any_Config: Unknown
    any_Output: Unknown
    any_DataCollator_any: Unknown
    any_TrainingArguments: Settings
    any_LogitsProcessor: Unknown
    any_Tokenizer: transformers.Tokenizer_
    any_TokenizerFast: transformers.Tokenizer_
    any_Processor: transformers.Processor_
    any_FeatureExtractor: transformers.Processor_
    any_ImageProcessorFast: transformers.Processor_
    any_Model: transformers.Model_
    any_For_any: transformers.Model_
    BatchEncoding: transformers.Encoding_
    BatchFeature: transformers.Encoding_
    # It moves the model when it is made, and each batch.
    any_Trainer: Trainer
    pipeline: Pipeline
    get_any_schedule_any: Scheduler
    get_scheduler: Scheduler
    cached_path: Download

    Model_: Model
    Tokenizer_: Tool
    Processor_: Tool
    Encoding_: Bundle

    class Model_:
        from_pretrained: Pretrained
        from_config: Itself
        generate: Generated
        get_text_features: Generated
        get_image_features: Generated
        __call__: Outputs

    Outputs_: Bundle

    class Outputs_:
        __getitem__: HeldInOrder
        logits: Held
        last_hidden_state: Held
        pooler_output: Held
        start_logits: Held
        end_logits: Held
        pred_boxes: Held
        image_embeds: Held
        text_embeds: Held
        logits_per_image: Held
        logits_per_text: Held
        encoder_last_hidden_state: Held
        hidden_states: HeldByName
        attentions: HeldByName

    class Tokenizer_:
        from_pretrained: Itself
        __call__: Encoded
        batch_encode_plus: Encoded
        encode_plus: Encoded
        prepare_for_model: Encoded
        pad: Encoded
        encode: EncodedTensor
        apply_chat_template: EncodedChat
        decode: Hosted
        batch_decode: Hosted
        convert_tokens_to_ids: Hosted
        convert_ids_to_tokens: Hosted
        tokenize: Hosted

    class Processor_:
        from_pretrained: Itself
        __call__: Encoded
        preprocess: Encoded
        decode: Hosted
        batch_decode: Hosted

    class Encoding_:
        anything: Held
        data: Same
        to: Unknown
        word_ids: Hosted
        encodings: Hosted
        tokens: Hosted
        char_to_token: Hosted
        is_fast: Hosted
        n_sequences: Hosted
