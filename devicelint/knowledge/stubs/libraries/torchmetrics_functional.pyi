"""torchmetrics.functional: what is predicted and what is true have to be on one device."""

def accuracy(preds: Tensor[D], target: Tensor[D], **settings) -> NoGrad[Ranked[D]]: ...
precision = accuracy
recall = accuracy
f1_score = accuracy
fbeta_score = accuracy
specificity = accuracy
jaccard_index = accuracy
hamming_distance = accuracy
cohen_kappa = accuracy
matthews_corrcoef = accuracy
confusion_matrix = accuracy
stat_scores = accuracy
mean_squared_error = accuracy
mean_absolute_error = accuracy
mean_absolute_percentage_error = accuracy
r2_score = accuracy
pearson_corrcoef = accuracy
spearman_corrcoef = accuracy
explained_variance = accuracy
cosine_similarity = accuracy
retrieval_reciprocal_rank = accuracy
retrieval_average_precision = accuracy
retrieval_precision = accuracy
retrieval_recall = accuracy
retrieval_hit_rate = accuracy
retrieval_normalized_dcg = accuracy
