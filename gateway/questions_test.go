package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/test/cases"
)

// TestQuestions runs the cases of testdata/questions: a document, a configuration, and a call whose client answers what it
// is asked. Each case is run in all revisions of the protocol.
//
//	api.yaml       the document
//	config.yaml    the configuration; $SPEC and $BASE stand for the document's path and the service's address
//	call           {"name": …, "arguments": …, "capabilities": of the client, "answers": {key: [results, in turn]}}, or "uri" of a
//	               resource in the place of name and arguments; what is not answered is cancelled
//	transcript     expected: the tool's input schema, what is asked, what reaches the service and what the client gets.
//	               Revisions with the same transcript stand together
func TestQuestions(t *testing.T) { transcripts(t, "testdata/questions/*.txtar", runQuestions) }

// transcripts runs each case and holds what it gives against the section transcript.
func transcripts(t *testing.T, pattern string, run func(*testing.T, *txtar.Archive) string) {
	t.Helper()
	cases.Run(t, pattern, func(t *testing.T, file string, archive *txtar.Archive) {
		got := run(t, archive)
		if *accept {
			set(archive, "transcript", got)
			cases.Write(t, file, archive)
			return
		}
		if diff := cmp.Diff(section(archive, "transcript"), got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func section(archive *txtar.Archive, name string) string {
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func runQuestions(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	var revisions []string
	transcripts := map[string][]string{}
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		service := newRawService(t, []byte("HTTP/1.1 204 No Content\nConnection: close\n\n"))
		g := start(t, section(archive, "api.yaml"), section(archive, "config.yaml"), service.url)
		server := httptest.NewServer(g.Handler())
		c := &answering{t: t, url: server.URL + "/mcp", revision: revision}
		if err := json.Unmarshal([]byte(section(archive, "call")), &c.call); err != nil {
			t.Fatalf("call: %v", err)
		}
		c.run()
		server.CloseClientConnections()
		server.Close()
		text := c.log.String() + "service:\n" + indented(service.seen())
		if transcripts[text] == nil {
			revisions = append(revisions, text)
		}
		transcripts[text] = append(transcripts[text], revision)
	}
	var b strings.Builder
	for _, text := range revisions {
		fmt.Fprintf(&b, "== %s ==\n%s", strings.Join(transcripts[text], ", "), text)
	}
	return b.String()
}

// indented shows a request to the service, without what is in all of them.
func indented(request string) string {
	var b strings.Builder
	for line := range strings.Lines(request) {
		if name, _, ok := strings.Cut(line, ":"); !ok || name != "Accept" && name != "Accept-Encoding" && name != "User-Agent" && name != "Host" && name != "Content-Length" {
			if strings.TrimSpace(line) != "" {
				b.WriteString("  " + strings.TrimRight(line, "\r\n") + "\n")
			}
		}
	}
	return b.String()
}

// answering is a client that answers.
type answering struct {
	t        *testing.T
	url      string
	revision string
	session  string
	call     struct {
		Name, URI               string
		Arguments, Capabilities json.RawMessage
		Answers                 map[string][]json.RawMessage
	}
	log bytes.Buffer
}

type message struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Error          json.RawMessage
}

// post sends a message and reads the messages of the answer; each one is handed on.
func (c *answering) post(header map[string]string, body string, each func(m message)) http.Header {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	take := func(text []byte) {
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			c.t.Fatalf("%v: %s", err, text)
		}
		each(m)
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		if text, err := io.ReadAll(resp.Body); err == nil && len(text) > 0 {
			take(text)
		}
		return resp.Header
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && len(data) > 0 {
			take(bytes.Clone(data))
		}
	}
	return resp.Header
}

func (c *answering) run() {
	c.t.Helper()
	if c.call.URI != "" {
		c.end(c.send("resources/read", c.call.URI, fmt.Sprintf(`{"uri":%q}`, c.call.URI), nil))
		return
	}
	list := c.send("tools/list", "", "{}", nil)
	var tools struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(list.Result, &tools); err != nil {
		c.t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == c.call.Name {
			fmt.Fprintf(&c.log, "schema: %s\n", tool.InputSchema)
		}
	}
	c.end(c.send("tools/call", c.call.Name, fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.call.Name, orEmpty(c.call.Arguments)), nil))
}

// end writes down what the call has come to.
func (c *answering) end(m message) {
	var result struct {
		Content, Contents []struct{ Text string }
		IsError           bool
	}
	if m.Error != nil || json.Unmarshal(m.Result, &result) != nil {
		fmt.Fprintf(&c.log, "error: %s\n", m.Error)
		return
	}
	word := "result"
	if result.IsError {
		word = "failed"
	}
	for _, block := range append(result.Content, result.Contents...) {
		fmt.Fprintf(&c.log, "%s: %s\n", word, strings.TrimRight(block.Text, "\n"))
	}
}

// send sends a request in the client's revision, and again with answers as often as it is asked.
func (c *answering) send(method, name, params string, retry map[string]json.RawMessage) (answer message) {
	c.t.Helper()
	header := map[string]string{"Mcp-Protocol-Version": c.revision}
	if c.revision < "2026" {
		c.initialize()
		if c.session != "" {
			header["Mcp-Session-Id"] = c.session
		}
		c.post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), func(m message) {
			if m.Method == "" {
				answer = m
				return
			}
			reply := c.answer(c.key(m), m.Method, m.Params)
			c.post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, reply), func(m message) {
				c.t.Errorf("an answer to an answer: %s%s", m.Result, m.Error)
			})
		})
		return answer
	}
	header["Mcp-Method"] = method
	if name != "" {
		header["Mcp-Name"] = name
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &members); err != nil {
		c.t.Fatal(err)
	}
	members["_meta"] = json.RawMessage(fmt.Sprintf(`{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s}`, c.revision, orEmpty(c.call.Capabilities)))
	for key, value := range retry {
		members[key] = value
	}
	body, err := json.Marshal(members)
	if err != nil {
		c.t.Fatal(err)
	}
	c.post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, body), func(m message) { answer = m })
	var asked struct {
		ResultType    string
		InputRequests map[string]struct {
			Method string
			Params json.RawMessage
		}
		RequestState json.RawMessage
	}
	if answer.Result == nil || json.Unmarshal(answer.Result, &asked) != nil || asked.ResultType != "input_required" {
		return answer
	}
	responses := map[string]json.RawMessage{}
	for key := range jsonscan.Members(jsonscan.Lookup(answer.Result, "inputRequests")) {
		q := asked.InputRequests[string(key)]
		responses[string(key)] = c.answer(string(key), q.Method, q.Params)
	}
	text, err := json.Marshal(responses)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.send(method, name, params, map[string]json.RawMessage{"inputResponses": text, "requestState": asked.RequestState})
}

func (c *answering) initialize() {
	if c.session != "" {
		return
	}
	header := c.post(nil, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`,
		c.revision, orEmpty(c.call.Capabilities)), func(message) {})
	c.session = header.Get("Mcp-Session-Id")
}

// key finds out which question a legacy request asks: the first of its kind whose answers have fields of the form, or which
// was asked no more than others.
func (c *answering) key(m message) string {
	var params struct {
		RequestedSchema struct{ Properties map[string]json.RawMessage }
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		c.t.Fatal(err)
	}
	for key, answers := range c.call.Answers {
		for _, answer := range answers {
			var content struct{ Content map[string]json.RawMessage }
			_ = json.Unmarshal(answer, &content) // the content of a sample is an object too
			for field := range params.RequestedSchema.Properties {
				if content.Content[field] != nil && m.Method == "elicitation/create" {
					return key
				}
			}
		}
		if strings.HasPrefix(key, strings.Split(m.Method, "/")[0]) {
			return key
		}
	}
	for key := range c.call.Answers {
		if len(c.call.Answers) == 1 && m.Method == "elicitation/create" {
			return key // the answers may be empty
		}
	}
	return "?"
}

// answer writes down a question and takes the next answer to it.
func (c *answering) answer(key, method string, params json.RawMessage) json.RawMessage {
	fmt.Fprintf(&c.log, "asked: %s %s\n", method, elicitationID.ReplaceAll(params, []byte(`"elicitationId":"…"`)))
	answers := c.call.Answers[key]
	if len(answers) == 0 {
		return json.RawMessage(`{"action":"cancel"}`)
	}
	c.call.Answers[key] = answers[1:]
	fmt.Fprintf(&c.log, "answer: %s\n", answers[0])
	return answers[0]
}

var elicitationID = regexp.MustCompile(`"elicitationId":"[^"]*"`)
