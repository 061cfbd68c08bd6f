"""Words and meaning in one order: the scores of both, each as a share of its best, added up."""

from collections.abc import Mapping

MEANING = 0.4  # the share of meaning; chosen on the development conversations (docs/decisions/0035)
NEAR = 0.0  # what is less similar has nothing to do with the question


def fused(words: Mapping[int, float], similar: Mapping[int, float]) -> dict[int, float]:
    """Scores by both. What the one does not know is worth nothing to it, and may still be found by the other."""
    by_words = _shares(words, 1 - MEANING)
    by_meaning = _shares({rid: similarity for rid, similarity in similar.items() if similarity > NEAR}, MEANING)
    return {rid: by_words.get(rid, 0.0) + by_meaning.get(rid, 0.0) for rid in {**by_words, **by_meaning}}


def _shares(scores: Mapping[int, float], weight: float) -> dict[int, float]:
    best = max(scores.values(), default=0.0)
    if best <= 0.0:
        # Matches that are worth nothing are matches all the same.
        return dict.fromkeys(scores, 0.0)
    return {rid: weight * score / best for rid, score in scores.items()}
