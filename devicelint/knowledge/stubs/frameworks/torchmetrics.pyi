"""torchmetrics: a metric is a module, and `update` adds to states that lie where the metric does."""

class torchmetrics:
    # A state that is a list takes tensors from anywhere.
    anything: torchmetrics.ListMetric
    MetricCollection: torchmetrics.ListMetric
    Metric: Module
    ListMetric: Transformation
    StateMetric: Metric

    class StateMetric:
        __call__: Output
        update: Checked
        compute: Computed

    class functional:
        anything: Unknown

    class utilities:
        anything: Unknown

    any_Accuracy: torchmetrics.StateMetric
    any_Precision: torchmetrics.StateMetric
    any_Recall: torchmetrics.StateMetric
    any_F1Score: torchmetrics.StateMetric
    any_FBetaScore: torchmetrics.StateMetric
    any_ConfusionMatrix: torchmetrics.StateMetric
    any_JaccardIndex: torchmetrics.StateMetric
    any_StatScores: torchmetrics.StateMetric
    any_Specificity: torchmetrics.StateMetric
    any_CohenKappa: torchmetrics.StateMetric
    any_MatthewsCorrCoef: torchmetrics.StateMetric
    any_HammingDistance: torchmetrics.StateMetric
    any_HingeLoss: torchmetrics.StateMetric
    any_ExactMatch: torchmetrics.StateMetric
    any_NegativePredictiveValue: torchmetrics.StateMetric
    MeanSquaredError: torchmetrics.StateMetric
    MeanAbsoluteError: torchmetrics.StateMetric
    MeanAbsolutePercentageError: torchmetrics.StateMetric
    MeanSquaredLogError: torchmetrics.StateMetric
    PearsonCorrCoef: torchmetrics.StateMetric
    ConcordanceCorrCoef: torchmetrics.StateMetric
    LogCoshError: torchmetrics.StateMetric
    SymmetricMeanAbsolutePercentageError: torchmetrics.StateMetric
    WeightedMeanAbsolutePercentageError: torchmetrics.StateMetric
    MinkowskiDistance: torchmetrics.StateMetric
    TweedieDevianceScore: torchmetrics.StateMetric
    RelativeSquaredError: torchmetrics.StateMetric
    MeanMetric: torchmetrics.StateMetric
    SumMetric: torchmetrics.StateMetric
    PeakSignalNoiseRatio: torchmetrics.StateMetric
    TotalVariation: torchmetrics.StateMetric
    Perplexity: torchmetrics.StateMetric
