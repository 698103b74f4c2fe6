"""gym: what an environment shows are arrays; its rewards are numbers."""

class gym:
    make: gym.Env
    Env: Tool

    class Env:
        reset: Observed
        step: Stepped

    class wrappers:
        AtariPreprocessing: gym.Env
        ClipAction: gym.Env
        FlattenObservation: gym.Env
        Monitor: gym.Env
        NormalizeObservation: gym.Env
        NormalizeReward: gym.Env
        RecordEpisodeStatistics: gym.Env
        RecordVideo: gym.Env
        TimeLimit: gym.Env
        TransformObservation: gym.Env
        TransformReward: gym.Env
