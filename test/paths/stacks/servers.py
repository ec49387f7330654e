"""servers.py PORT PORT PORT: http.server with the path handling of its own file handler, wsgiref, and Flask if it is there."""
import posixpath
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote
from wsgiref.simple_server import WSGIRequestHandler, make_server


def orders(value):
    return "route=orders\nvalue=" + quote(value, safe="") + "\n"


def files(value):
    return "route=files\nvalue=" + quote(value, safe="") + "\n"


def search(pairs, ref):
    one = len(pairs) == 1 and pairs[0][0] == "q"
    return "route=search\nvalue=" + (quote(pairs[0][1], safe="") if one else "several") + "\nref=" + (ref or "") + "\n"


def route(path, query, ref):
    rest = path[len("/v1/orders/"):]
    if path.startswith("/v1/orders/") and not (rest.endswith("/refund") and rest.count("/") == 1):
        return orders(rest)
    if path.startswith("/v1/files/") and not path.endswith("/restore"):
        return files(path[len("/v1/files/"):])
    if path == "/v1/search":
        return search(parse_qsl(query, keep_blank_values=True), ref)
    return "route=foreign " + path + "\n"


class Plain(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        clean = posixpath.normpath(unquote(path))  # as SimpleHTTPRequestHandler does
        body = route(clean, query, self.headers.get("X-Ref")).encode("utf-8", "replace")
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


def wsgi(environ, start):
    path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    start("200 OK", [("Content-Type", "text/plain; charset=utf-8")])
    return [route(path, environ["QUERY_STRING"], environ.get("HTTP_X_REF")).encode("utf-8", "replace")]


def flask_app():
    from flask import Flask, Response, request
    app = Flask("paths")
    text = lambda body: Response(body, content_type="text/plain; charset=utf-8")
    app.add_url_rule("/v1/orders/<id>", "order", lambda id: text(orders(id)))
    app.add_url_rule("/v1/files/<path:path>", "file", lambda path: text("route=foreign " + path if path.endswith("/restore") else files(path)))
    app.add_url_rule("/v1/search", "search", lambda: text(search(list(request.args.items(multi=True)), request.headers.get("X-Ref"))))
    app.add_url_rule("/", "root", lambda: text("route=foreign /\n"))
    app.add_url_rule("/<path:rest>", "foreign", lambda rest: text("route=foreign " + rest + "\n"))
    return app


servers = [ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Plain), make_server("127.0.0.1", int(sys.argv[2]), wsgi, handler_class=Quiet)]
if len(sys.argv) > 3:
    servers.append(make_server("127.0.0.1", int(sys.argv[3]), flask_app(), handler_class=Quiet))
for server in servers:
    threading.Thread(target=server.serve_forever).start()
