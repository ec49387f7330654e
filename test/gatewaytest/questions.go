package gatewaytest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"drawbridge/test/update"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/test/cases"
)

// Transcripts runs each case and holds what it gives against the section transcript.
func Transcripts(t *testing.T, pattern string, run func(*testing.T, *txtar.Archive) string) {
	t.Helper()
	cases.Run(t, pattern, func(t *testing.T, file string, archive *txtar.Archive) {
		got := run(t, archive)
		if *update.Expected {
			Set(archive, "transcript", got)
			cases.Write(t, file, archive)
			return
		}
		if diff := cmp.Diff(Section(archive, "transcript"), got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// Section returns the content of a file of a case, without line breaks around it.
func Section(archive *txtar.Archive, name string) string {
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// Answering is a client that answers.
type Answering struct {
	T        *testing.T
	URL      string
	Revision string
	Session  string
	Call     struct {
		Name, URI               string
		Arguments, Capabilities json.RawMessage
		Answers                 map[string][]json.RawMessage
	}
	Log bytes.Buffer
}

// Message is a JSON-RPC message.
type Message struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Error          json.RawMessage
}

// Post sends a message and reads the messages of the answer; each one is handed on.
func (c *Answering) Post(header map[string]string, body string, each func(m Message)) http.Header {
	c.T.Helper()
	req, err := http.NewRequestWithContext(c.T.Context(), http.MethodPost, c.URL, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	take := func(text []byte) {
		var m Message
		if err := json.Unmarshal(text, &m); err != nil {
			c.T.Fatalf("%v: %s", err, text)
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

// Run makes the call of the case and answers what it asks.
func (c *Answering) Run() {
	c.T.Helper()
	if c.Call.URI != "" {
		c.end(c.Send("resources/read", c.Call.URI, fmt.Sprintf(`{"uri":%q}`, c.Call.URI), nil))
		return
	}
	list := c.Send("tools/list", "", "{}", nil)
	var tools struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(list.Result, &tools); err != nil {
		c.T.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == c.Call.Name {
			fmt.Fprintf(&c.Log, "schema: %s\n", tool.InputSchema)
		}
	}
	c.end(c.Send("tools/call", c.Call.Name, fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.Call.Name, OrEmpty(c.Call.Arguments)), nil))
}

// end writes down what the call has come to.
func (c *Answering) end(m Message) {
	var result struct {
		Content, Contents []struct{ Text string }
		IsError           bool
	}
	if m.Error != nil || json.Unmarshal(m.Result, &result) != nil {
		fmt.Fprintf(&c.Log, "error: %s\n", m.Error)
		return
	}
	word := "result"
	if result.IsError {
		word = "failed"
	}
	for _, block := range append(result.Content, result.Contents...) {
		fmt.Fprintf(&c.Log, "%s: %s\n", word, strings.TrimRight(block.Text, "\n"))
	}
}

// Send sends a request in the client's revision, and again with answers as often as it is asked.
func (c *Answering) Send(method, name, params string, retry map[string]json.RawMessage) (answer Message) {
	c.T.Helper()
	header := map[string]string{"Mcp-Protocol-Version": c.Revision}
	if c.Revision < "2026" {
		c.Initialize()
		if c.Session != "" {
			header["Mcp-Session-Id"] = c.Session
		}
		c.Post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), func(m Message) {
			if m.Method == "" {
				answer = m
				return
			}
			reply := c.answer(c.key(m), m.Method, m.Params)
			c.Post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, reply), func(m Message) {
				c.T.Errorf("an answer to an answer: %s%s", m.Result, m.Error)
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
		c.T.Fatal(err)
	}
	members["_meta"] = json.RawMessage(fmt.Sprintf(`{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s}`, c.Revision, OrEmpty(c.Call.Capabilities)))
	for key, value := range retry {
		members[key] = value
	}
	body, err := json.Marshal(members)
	if err != nil {
		c.T.Fatal(err)
	}
	c.Post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, body), func(m Message) { answer = m })
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
		c.T.Fatal(err)
	}
	return c.Send(method, name, params, map[string]json.RawMessage{"inputResponses": text, "requestState": asked.RequestState})
}

// Initialize begins a session in the revisions that have one.
func (c *Answering) Initialize() {
	if c.Session != "" {
		return
	}
	header := c.Post(nil, fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"t","version":"1"}}}`,
		c.Revision, OrEmpty(c.Call.Capabilities)), func(Message) {})
	c.Session = header.Get("Mcp-Session-Id")
}

// key finds out which question a legacy request asks: the first of its kind whose answers have fields of the form, or which
// was asked no more than others.
func (c *Answering) key(m Message) string {
	var params struct {
		RequestedSchema struct{ Properties map[string]json.RawMessage }
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		c.T.Fatal(err)
	}
	for key, answers := range c.Call.Answers {
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
	for key := range c.Call.Answers {
		if len(c.Call.Answers) == 1 && m.Method == "elicitation/create" {
			return key // the answers may be empty
		}
	}
	return "?"
}

// answer writes down a question and takes the next answer to it.
func (c *Answering) answer(key, method string, params json.RawMessage) json.RawMessage {
	fmt.Fprintf(&c.Log, "asked: %s %s\n", method, elicitationID.ReplaceAll(params, []byte(`"elicitationId":"…"`)))
	answers := c.Call.Answers[key]
	if len(answers) == 0 {
		return json.RawMessage(`{"action":"cancel"}`)
	}
	c.Call.Answers[key] = answers[1:]
	fmt.Fprintf(&c.Log, "answer: %s\n", answers[0])
	return answers[0]
}

var elicitationID = regexp.MustCompile(`"elicitationId":"[^"]*"`)
