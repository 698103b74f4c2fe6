"""gymnasium: what an environment shows are arrays; its rewards are numbers."""

class gymnasium:
    make: gymnasium.Env
    Env: Tool

    class Env:
        reset: ObservedBeside
        step: Stepped

    class wrappers:
        AtariPreprocessing: gymnasium.Env
        ClipAction: gymnasium.Env
        FlattenObservation: gymnasium.Env
        NormalizeObservation: gymnasium.Env
        NormalizeReward: gymnasium.Env
        RecordEpisodeStatistics: gymnasium.Env
        RecordVideo: gymnasium.Env
        RescaleAction: gymnasium.Env
        TimeLimit: gymnasium.Env
        TransformObservation: gymnasium.Env
        TransformReward: gymnasium.Env
