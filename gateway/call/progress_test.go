package call_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// eventDocument has an operation that answers with events, of the type that its service says.
const eventDocument = `
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /run: {get: {operationId: run, responses: {"200": {description: OK, content: {application/x-ndjson: {itemSchema: {type: object}}, text/event-stream: {}}}}}}
  /order: {post: {operationId: order, responses: {"200": {description: OK, content: {application/x-ndjson: {}}}}}}
`

// told takes an event stream apart: what was told before the answer, one line for each message, and the text of the answer.
func told(t *testing.T, stream string) (before, answer string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var m struct {
			Method string
			Params json.RawMessage
			Result struct {
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if m.Method != "" {
			lines = append(lines, strings.TrimPrefix(m.Method, "notifications/")+" "+string(m.Params))
			continue
		}
		for _, c := range m.Result.Content {
			answer += c.Text
		}
		if m.Result.StructuredContent != nil {
			answer += "\nstructured " + string(m.Result.StructuredContent)
		}
	}
	return strings.Join(lines, "\n"), answer
}

// TestProgress holds what clients are told of streamed answers, with a token and with a log level, and what the answer is.
func TestProgress(t *testing.T) {
	const ndjson, sse = "application/x-ndjson", "text/event-stream"
	for _, c := range []struct {
		name, set, media, stream string
		before, answer           string
	}{
		{
			name: "numbers", media: ndjson, stream: `{"progress":1,"total":4,"message":"begin\u200bning <!-- x -->"}` + "\n" + `{"progress":2.5,"total":4}` + "\n" + `{"progress":2,"message":"back"}` + "\n" + `{"state":"x"}` + "\n{\"progress\":4,\"total\":4}\n",
			before: `progress {"progressToken":"p","progress":1,"total":4,"message":"beginning"}
progress {"progressToken":"p","progress":2.5,"total":4}
progress {"progressToken":"p","progress":4,"total":4}`,
		},
		{
			name: "counted", media: sse, stream: "data: one\n\ndata: {\"message\":\"two\"}\n\ndata: [1]\n\ndata: [DONE]\n\n",
			before: `progress {"progressToken":"p","progress":1}
progress {"progressToken":"p","progress":2,"message":"two"}
progress {"progressToken":"p","progress":3}`,
			answer: `["one","{\"message\":\"two\"}","[1]"]` + "\nstructured " + `{"result":["one","{\"message\":\"two\"}","[1]"]}`,
		},
		{
			name: "logs", media: ndjson, stream: `{"log":"plain"}` + "\n" + `{"log":{"level":"WARN","text":"with a level"},"progress":1}` + "\n" + `{"log":{"level":"debug","text":"too little"}}` + "\n" + `{"log":{"level":"odd"}}` + "\n",
			before: `message {"level":"info","logger":"run","data":"plain"}
message {"level":"warning","logger":"run","data":"with a level"}
progress {"progressToken":"p","progress":1}`,
		},
		{
			name: "elsewhere", set: `progress: {progress: /job/done, total: /job/of, message: /job/say, log: /note, result: /job/result}`, media: ndjson,
			stream: `{"progress":9,"log":"no"}` + "\n" + `{"job":{"done":1,"of":2,"say":"half"},"note":"yes"}` + "\n" + `{"job":{"result":null}}` + "\n" + `{"job":{"done":2,"result":{"id": 7}}}` + "\n",
			before: `message {"level":"info","logger":"run","data":"yes"}
progress {"progressToken":"p","progress":1,"total":2,"message":"half"}`,
			answer: `{"id":7}`,
		},
		{
			name: "result of events", set: `progress: {result: /result}`, media: sse, stream: "data: {\"progress\":1}\n\nevent: end\ndata: {\"result\":\"all \\\"done\\\"\"}\n\n",
			before: `progress {"progressToken":"p","progress":1}`, answer: `all "done"`,
		},
		{
			name: "result beside text", set: `progress: {result: /result}`, media: sse, stream: "data: thinking\n\ndata: {\"result\": [1, 2]}\n\n",
			before: `progress {"progressToken":"p","progress":1}`, answer: `[1,2]`,
		},
		{
			name: "no result", set: `progress: {result: /result}`, media: ndjson, stream: "{\"progress\":1}\n",
			before: `progress {"progressToken":"p","progress":1}`, answer: `[{"progress":1}]`,
		},
		{name: "hidden", set: `progress: {hide: true, result: /r}`, media: ndjson, stream: "{\"progress\":1,\"log\":\"x\"}\n{\"r\":1}", answer: "1"},
		{name: "no stream", media: "application/json", stream: `{"progress":1,"log":"x"}`, answer: "{\"progress\":1,\"log\":\"x\"}\nstructured {\"unexpected\":{\"progress\":1,\"log\":\"x\"}}"},
		{
			name: "secrets", media: ndjson, stream: `{"progress":1,"message":"key the-\u200bkey-of-the-api","log":"the-key-of-the-api"}` + "\n",
			before: `message {"level":"info","logger":"run","data":"[redacted]"}
progress {"progressToken":"p","progress":1,"message":"key [redacted]"}`,
			answer: "[{\"progress\":1,\"message\":\"key the-\u200bkey-of-the-api\",\"log\":\"[redacted]\"}]\nstructured {\"result\":[{\"progress\":1,\"message\":\"key the-\u200bkey-of-the-api\",\"log\":\"[redacted]\"}]}",
		},
		{
			name: "odd", media: ndjson, stream: `{"progress":"1","total":1}` + "\n" + `{"progress":1e999}` + "\n" + `{"progress":5,"total":"x","message":7}` + "\n",
			before: `progress {"progressToken":"p","progress":1}
progress {"progressToken":"p","progress":2}
progress {"progressToken":"p","progress":5}`,
		},
		{
			name: "long", media: ndjson, stream: `{"progress":1,"message":"` + strings.Repeat("ä", 300) + `"}` + "\n",
			before: `progress {"progressToken":"p","progress":1,"message":"` + strings.Repeat("ä", 250) + `…"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			service := newRawService(t, fmt.Appendf(nil, "HTTP/1.1 200 OK\nContent-Type: %s\n\n%s\n", c.media, c.stream))
			g := gatewaytest.Start(t, eventDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE, credential: {type: bearer, token: the-key-of-the-api}}]\n"+
				"rules: [{match: {path: /run}, set: {timeout: 20s, "+c.set+"}}]\n", service.url)
			w := gatewaytest.Post(g.Handler(), http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"run"}}, `{"jsonrpc":"2.0","id":1,"method":"tools/call",
				"params":{"name":"run","arguments":{},"_meta":{"progressToken":"p","io.modelcontextprotocol/logLevel":"info",
				"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
			before, text := told(t, w.Body.String())
			before = withoutDiagnosis(before)
			if status := w.Code; status != http.StatusOK || before != c.before || c.answer != "" && text != c.answer {
				t.Errorf("%d, told\n%s\nwant\n%s\nanswer\n%s\nwant\n%s", status, before, c.before, text, c.answer)
			}
		})
	}
}

// withoutDiagnosis leaves out what the gateway itself says of a call.
func withoutDiagnosis(lines string) string {
	var kept []string
	for line := range strings.SplitSeq(lines, "\n") {
		if !strings.Contains(line, `"logger":"drawbridge"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// TestProgressWithoutToken: who does not ask to be told is not.
func TestProgressWithoutToken(t *testing.T) {
	service := newRawService(t, []byte("HTTP/1.1 200 OK\nContent-Type: application/x-ndjson\n\n{\"progress\":1,\"log\":\"x\"}\n"))
	g := gatewaytest.Start(t, eventDocument, "", service.url)
	for _, era := range gatewaytest.Eras {
		if _, answer := gatewaytest.Ask(t, g.Handler(), era, "tools/call", "run", `"name":"run","arguments":{}`); !json.Valid(answer) {
			t.Errorf("%s: %s", era, answer)
		}
	}
}

// TestShapeless: a tool whose answer is the result of a stream shows no output schema, and one whose stream is the answer does.
func TestShapeless(t *testing.T) {
	g := gatewaytest.Start(t, eventDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {path: /run}, set: {progress: {result: /r}}}]\n", "http://127.0.0.1:1")
	_, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/list", "", "")
	var list struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(answer, &list); err != nil || len(list.Result.Tools) != 2 {
		t.Fatal(err, string(answer))
	}
	for _, tool := range list.Result.Tools {
		if got, want := tool.OutputSchema != nil, tool.Name != "run"; got != want {
			t.Errorf("%s has an output schema: %t", tool.Name, got)
		}
	}
}

// TestLeavingAStream: an event is told as soon as it is there, also of a compressed stream, and that is closed at once when the
// client leaves, in both eras; an unsafe call of the legacy era goes on, and what it says is said to nobody.
func TestLeavingAStream(t *testing.T) {
	ended := make(chan string, 1)
	release := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		var out io.Writer = w
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Encoding", "gzip")
			out = gzip.NewWriter(w)
		}
		for i := 0; ; i++ {
			fmt.Fprintf(out, "{\"progress\":%d}\n", i)
			if z, ok := out.(*gzip.Writer); ok {
				_ = z.Flush()
			}
			_ = http.NewResponseController(w).Flush()
			if i == 40 {
				ended <- "finished"
				return
			}
			if i > 0 {
				continue
			}
			select {
			case <-r.Context().Done():
				ended <- "closed"
				return
			case <-release:
			}
		}
	}))
	defer service.Close()
	g := gatewaytest.Start(t, eventDocument, "", service.URL)
	screening := httptest.NewServer(g.Handler())
	defer screening.Close()
	for _, era := range gatewaytest.Eras {
		for tool, want := range map[string]string{"run": "closed", "order": map[bool]string{true: "finished", false: "closed"}[era < "2026"]} {
			ctx, cancel := context.WithCancel(t.Context())
			header, meta := connect(t, screening.URL, era, tool)
			if meta != "" {
				meta += ","
			}
			resp := send(t, ctx, screening.URL, header, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{},"_meta":{`+meta+`"progressToken":1}}}`)
			line, err := bufio.NewReader(resp.Body).ReadString('\n')
			if err != nil || !strings.HasPrefix(line, "event:") {
				t.Fatalf("%s %s: %q, %v", era, tool, line, err)
			}
			cancel()
			if want == "finished" {
				timebox.Send(t, release, struct{}{})
			}
			if got := timebox.Receive(t, ended); got != want {
				t.Errorf("%s %s: the stream was %s, want %s", era, tool, got, want)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
}

// send posts a message to a server as a client does that reads event streams.
func send(t *testing.T, ctx context.Context, url string, header http.Header, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, values := range req.Header {
		if values[0] == "" {
			delete(req.Header, name)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// connect opens a session if the era has them, and returns the headers and the _meta of a call of a tool.
func connect(t *testing.T, url, era, tool string) (header http.Header, meta string) {
	t.Helper()
	header = http.Header{"Mcp-Protocol-Version": {era}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}}
	if era >= "2026" {
		return header, `"io.modelcontextprotocol/protocolVersion":"` + era + `","io.modelcontextprotocol/clientCapabilities":{}`
	}
	resp := send(t, t.Context(), url, http.Header{}, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+era+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	defer resp.Body.Close()
	header.Set("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	return header, ""
}

// TestCommentsFromKeepAliveOn: a call that is silent for server.keep_alive becomes a stream with a comment, in both families of revisions (pains
// row 162).
func TestCommentsFromKeepAliveOn(t *testing.T) {
	release := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a":1}`)
	}))
	defer service.Close()
	g := gatewaytest.Start(t, eventDocument, "server: {keep_alive: 100ms}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	screening := httptest.NewServer(g.Handler())
	defer screening.Close()
	for _, era := range gatewaytest.Eras {
		header, meta := connect(t, screening.URL, era, "order")
		resp := send(t, t.Context(), screening.URL, header, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order","arguments":{},"_meta":{`+meta+`}}}`)
		lines := bufio.NewReader(resp.Body)
		first, err := lines.ReadString('\n')
		timebox.Send(t, release, struct{}{})
		if err != nil || first != ":\n" {
			t.Errorf("%s: %q, %v", era, first, err)
		}
		rest, err := io.ReadAll(lines)
		if err != nil || !strings.Contains(string(rest), `{\"a\":1}`) {
			t.Errorf("%s: %s, %v", era, rest, err)
		}
		resp.Body.Close()
	}
}
