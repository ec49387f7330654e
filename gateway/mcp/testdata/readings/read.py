"""What Python's json makes of each document, as json.loads(body) in a proxy would: see readings_test.go."""
import base64, json, struct, sys


def text(s):
    s = s.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else "\\%x;" % ord(c) for c in s) + '"'


def dump(v):
    if v is None or isinstance(v, bool):
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, str):
        return text(v)
    if isinstance(v, list):
        return "[" + ",".join(map(dump, v)) + "]"
    if isinstance(v, dict):
        return "{" + ",".join(sorted(text(k) + ":" + dump(e) for k, e in v.items())) + "}"
    try:
        number = float(v) + 0.0
    except OverflowError:
        number = float("inf") if v > 0 else float("-inf")
    return struct.pack(">d", number).hex()


def read(body):
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return "no message"
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    return dump([message.get("method"), params.get("name") or "", params.get("arguments")])


json.dump([read(base64.b64decode(d)) for d in json.load(sys.stdin)], sys.stdout)
