package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"drawbridge/openapi/answer"
	"drawbridge/test/race"
)

const callSpec = `
openapi: 3.0.3
info: {title: Calls, version: "1"}
servers: [{url: "https://api.example/v1"}]
paths:
  /orders/{id}:
    get:
      operationId: get
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: expand, in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Tenant, in: header, schema: {type: string}}
      responses:
        "200":
          description: OK
          content: {application/json: {schema: {type: object, properties: {items: {type: array, items: {type: object, properties: {id: {type: integer}, name: {type: string}}}}}}}}
  /orders:
    post:
      operationId: create
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [customer], properties: {customer: {type: string}, lines: {type: array, items: {type: object, properties: {sku: {type: string}, count: {type: integer}}}}}}}}
      responses: {"201": {description: Created}}
`

func callOperation(tb testing.TB, id string) *Operation {
	tb.Helper()
	doc, err := Load(tb.Context(), writeFile(tb, callSpec), LoadOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	api, err := doc.Compile(tb.Context(), CompileOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	for _, op := range api.Operations {
		if op.ID == id {
			return op
		}
	}
	tb.Fatalf("no operation %q: %v", id, api.Skipped)
	return nil
}

func BenchmarkNewRequest(b *testing.B) {
	for id, args := range map[string]string{
		"get":    `{"id":123,"expand":["lines","customer"],"X-Tenant":"acme"}`,
		"create": `{"customer":"c-17","lines":[{"sku":"a","count":1},{"sku":"b","count":2}]}`,
	} {
		b.Run(id, func(b *testing.B) {
			op := callOperation(b, id)
			ctx, text := b.Context(), json.RawMessage(args)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := op.NewRequest(ctx, nil, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestNewRequestAllocates limits the allocations of a request.
func TestNewRequestAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	for id, tt := range map[string]struct {
		args string
		most float64
	}{
		"get":    {`{"id":123,"expand":["lines","customer"],"X-Tenant":"acme"}`, 27},
		"create": {`{"customer":"c-17","lines":[{"sku":"a","count":1},{"sku":"b","count":2}]}`, 33},
	} {
		op, least := callOperation(t, id), 1e9 // garbage collections empty the pools now and then
		for range 5 {
			least = min(least, testing.AllocsPerRun(100, func() {
				if _, err := op.NewRequest(t.Context(), nil, json.RawMessage(tt.args)); err != nil {
					t.Fatal(err)
				}
			}))
		}
		if least > tt.most {
			t.Errorf("%s: %v allocations, want at most %v", id, least, tt.most)
		}
	}
}

func largeAnswer(size int, indent bool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"order number %d","note":"left at the \"back\" door"}`, i, i)
	}
	b.WriteString(`]}`)
	if indent {
		var out bytes.Buffer
		if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
			panic(err)
		}
		return out.Bytes()
	}
	return b.Bytes()
}

func BenchmarkReadResponse(b *testing.B) {
	for name, body := range map[string][]byte{
		"1KiB": largeAnswer(1<<10, false), "256KiB": largeAnswer(256<<10, false), "256KiB-indented": largeAnswer(128<<10, true),
	} {
		b.Run(name, func(b *testing.B) {
			op := callOperation(b, "get")
			header := http.Header{"Content-Type": {"application/json"}}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				resp := &http.Response{StatusCode: 200, Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}
				err := readParts(op.Answers, resp, func(p answer.Part) error {
					if p.Kind != answer.JSON || p.Drift != "" {
						b.Fatal(p.Kind, p.Drift)
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestLargeAnswersMakeNoGarbage checks that the allocations for a response don't grow with it.
func TestLargeAnswersMakeNoGarbage(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector empties pools")
	}
	op := callOperation(t, "get")
	body := largeAnswer(256<<10, false)
	header := http.Header{"Content-Type": {"application/json"}}
	reader := bytes.NewReader(body)
	perCall := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			reader.Reset(body)
			resp := &http.Response{StatusCode: 200, Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(reader)}
			if err := readParts(op.Answers, resp, func(answer.Part) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if perCall > 8<<10 {
		t.Errorf("an answer of %d bytes makes %d bytes of garbage", len(body), perCall)
	}
}

// TestArgumentsAreNotKept checks that a caller may reuse the memory of the arguments once the request is built.
func TestArgumentsAreNotKept(t *testing.T) {
	for id, args := range map[string]string{
		"get":    `{"id":123,"expand":["lines"],"X-Tenant":"acme"}`,
		"create": `{"customer":"c-17"}`,
	} {
		op := callOperation(t, id)
		text := []byte(args)
		req, err := op.NewRequest(t.Context(), nil, text)
		if err != nil {
			t.Fatal(err)
		}
		want := onTheWire(t, req)
		if req, err = op.NewRequest(t.Context(), nil, text); err != nil {
			t.Fatal(err)
		}
		for i := range text {
			text[i] = 'x'
		}
		if got := onTheWire(t, req); got != want {
			t.Errorf("%s: the request changed with its arguments:\n%s\nwas\n%s", id, got, want)
		}
	}
}

// TestCutOffAnswer checks P2: no part of a response that ends too early is returned.
func TestCutOffAnswer(t *testing.T) {
	op := callOperation(t, "get")
	body := &closeRecorder{Reader: io.MultiReader(bytes.NewReader([]byte(`{"items":[]}`)), failingReader{})}
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: -1, Body: body}
	err := readParts(op.Answers, resp, func(answer.Part) error { t.Error("a part of it was handed out"); return nil })
	if err == nil || err.Error() != "read answer: unexpected EOF" {
		t.Errorf("error %v", err)
	}
	if !body.closed {
		t.Error("the body is not closed")
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestNoBase checks that without a base the error names the setting to configure, only to the operator.
func TestNoBase(t *testing.T) {
	op := *callOperation(t, "get")
	op.Base, op.BaseProblem = nil, `the server https://other.example is not listed in allow_servers; set base_url for this API`
	_, err := op.NewRequest(t.Context(), nil, json.RawMessage(`{"id":1}`))
	m, ok := err.(interface{ ToolMessage() string })
	if !ok || err.Error() != op.BaseProblem {
		t.Fatalf("error %v", err)
	}
	if want := "This operation can't be called yet: the operator of the gateway has to set base_url for its API."; m.ToolMessage() != want {
		t.Errorf("the model is told %q", m.ToolMessage())
	}
}

// readParts reads an answer and passes its parts to each, which may refuse one.
func readParts(p *answer.Plan, resp *http.Response, each func(answer.Part) error) error {
	var parts answer.Parts
	defer parts.Release()
	if err := p.Read(resp, &parts); err != nil {
		return err
	}
	for _, part := range parts.List {
		if err := each(part); err != nil {
			return err
		}
	}
	return nil
}
