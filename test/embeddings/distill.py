"""Distills the sentence model of server.py into a table of token vectors, as Model2Vec does (MinishLab, 2024).

Each token of the vocabulary goes through the model alone; the vectors are reduced by a principal component analysis and
weighted by how rare the token is (smooth inverse frequency, with Zipf's law over the order of the vocabulary). A row is
int8 with a scale. With the texts of the tokens the table has less than 8 MB.

    python distill.py TABLE.npz [DIMENSIONS]
"""

import sys

import numpy

from server import MiniLM

SIF = 1e-4  # the value of Model2Vec, and of Arora et al. 2017 within a factor of 10


def main(file, dimensions=256):
    model = MiniLM()
    vocabulary = sorted(model.tokenizer.get_vocab().items(), key=lambda item: item[1])
    first, last = model.tokenizer.token_to_id("[CLS]"), model.tokenizer.token_to_id("[SEP]")
    rows = []
    for at in range(0, len(vocabulary), 256):
        ids = [[first, token, last] for _, token in vocabulary[at : at + 256]]
        rows.append(model.run(ids, [[1, 1, 1]] * len(ids)))
    vectors = numpy.concatenate(rows)
    used = numpy.array([not text.startswith("[unused") for text, _ in vocabulary])
    mean = vectors[used].mean(0)
    _, _, axes = numpy.linalg.svd(vectors[used] - mean, full_matrices=False)
    vectors = (vectors - mean) @ axes[:dimensions].T
    rank = numpy.arange(len(vectors)) + 2
    frequency = (1 / rank) / (1 / rank).sum()
    vectors *= (SIF / (SIF + frequency))[:, None]
    scale = numpy.abs(vectors).max(1) / 127
    numpy.savez(file, vectors=numpy.round(vectors / scale[:, None]).astype(numpy.int8), scale=scale.astype(numpy.float32))
    size = int(used.sum()) * (dimensions + 4) + sum(len(text.encode()) + 1 for (text, _), u in zip(vocabulary, used) if u)
    print(f"{int(used.sum())} tokens, {dimensions} dimensions: {size} bytes")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
