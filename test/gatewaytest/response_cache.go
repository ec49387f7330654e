package gatewaytest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
)

// Counting is a service whose answers are numbered, so that a kept one is known.
type Counting struct {
	*httptest.Server
	N      atomic.Int64
	Header atomic.Pointer[string] // Cache-Control
}

// NewCounting starts a service that counts its requests.
func NewCounting(t *testing.T) *Counting {
	t.Helper()
	s := &Counting{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := s.Header.Load(); h != nil {
			w.Header().Set("Cache-Control", *h)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"answer":%d,"who":%q,"secret":"s"}`, s.N.Add(1), r.Header.Get("X-Who"))
	}))
	t.Cleanup(s.Close)
	return s
}

// KeeperDocument is a document of operations whose responses can be cached.
const KeeperDocument = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders:
    get: {operationId: list, parameters: [{name: page, in: query, schema: {type: integer}}, {name: X-Tag, in: header, schema: {type: string}}], responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
    post: {operationId: place, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
  /orders/{id}:
    get: {operationId: order, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
    delete: {operationId: remove, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {'204': {description: gone}}}
`

var answerNumber = regexp.MustCompile(`"structuredContent":\{"answer":(\d+)`)

// AnswerOf returns the number of the answer that a result holds.
func AnswerOf(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	m := answerNumber.FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return m[1]
}
