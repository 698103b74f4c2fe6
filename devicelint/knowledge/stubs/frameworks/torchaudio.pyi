"""torchaudio: `load` gives a tensor on the CPU; transforms are modules, most of them with buffers."""

class torchaudio:
    load: Audio

    class transforms:
        anything: Unknown
        Spectrogram: torchaudio.Transform
        InverseSpectrogram: torchaudio.Transform
        GriffinLim: torchaudio.Transform
        MelScale: torchaudio.Transform
        InverseMelScale: torchaudio.Transform
        MelSpectrogram: torchaudio.Transform
        MFCC: torchaudio.Transform
        LFCC: torchaudio.Transform
        Resample: torchaudio.Transform
        TimeStretch: torchaudio.Transform
        SpectralCentroid: torchaudio.Transform
        PitchShift: torchaudio.Transform
        # Nothing in them has a device.
        AmplitudeToDB: torchaudio.Stateless
        MuLawEncoding: torchaudio.Stateless
        MuLawDecoding: torchaudio.Stateless
        FrequencyMasking: torchaudio.Stateless
        TimeMasking: torchaudio.Stateless
        Fade: torchaudio.Stateless
        Vol: torchaudio.Stateless
        SlidingWindowCmn: torchaudio.Stateless
        ComputeDeltas: torchaudio.Stateless

    Transform: Model
    Stateless: Transformation

    class Stateless:
        __call__: Beside

    class functional:
        anything: Beside

    class Transform:
        __call__: Output

    class models:
        any_model: Model
        wav2vec2_any: Model
        hubert_any: Model
        Conformer: Model
        ConvTasNet: Model
        DeepSpeech: Model
        Emformer: Model
        Tacotron2: Model
        Wav2Letter: Model
        Wav2Vec2Model: Model
        WaveRNN: Model
