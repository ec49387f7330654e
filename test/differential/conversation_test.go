package differential

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"drawbridge/test/timebox"
)

// A step is one HTTP request of a conversation. In its file it is
//
//	-- NAME [&] [first N] --
//	METHOD [HOST]
//	Header: value
//
//	BODY
//
// A step with & is answered in the background, and has reached its tool before the next one is sent. Of a step with
// "first N" no more than N messages are read. ${session}, ${cursor} and ${state} stand for what the last answer that had one gave as
// Mcp-Session-Id, nextCursor and requestState; ${meta} for the members of _meta that each modern request has. Content-Type and Accept are
// set unless they stand there; an empty value takes a header out.
type step struct {
	name       string
	background bool
	first      int // 0: all
	method     string
	host       string
	header     http.Header
	body       string
}

const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"differential","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

// readConversations reads all files of testdata.
func readConversations(t *testing.T) map[string][]step {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata: %d files, %v", len(files), err)
	}
	all := map[string][]step{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(bytes.TrimSpace(archive.Comment)) == 0 {
			t.Errorf("%s does not say why it exists", file)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, f := range archive.Files {
			s, err := parseStep(f)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, f.Name, err)
			}
			all[name] = append(all[name], s)
		}
	}
	return all
}

func parseStep(f txtar.File) (step, error) {
	words := strings.Fields(f.Name)
	s := step{name: words[0], header: http.Header{}}
	for i := 1; i < len(words); i++ {
		switch {
		case words[i] == "&":
			s.background = true
		case words[i] == "first" && i+1 < len(words):
			var err error
			if s.first, err = strconv.Atoi(words[i+1]); err != nil {
				return s, err
			}
			i++
		default:
			return s, fmt.Errorf("%q is not known", words[i])
		}
	}
	head, body, _ := strings.Cut(string(f.Data), "\n\n")
	s.body = strings.TrimSuffix(body, "\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	s.method, s.host, _ = strings.Cut(lines[0], " ")
	if s.method == http.MethodPost {
		s.header.Set("Content-Type", "application/json")
		s.header.Set("Accept", "application/json, text/event-stream")
	}
	set := map[string]bool{}
	for _, line := range lines[1:] {
		key, value, found := strings.Cut(line, ":")
		if !found {
			return s, fmt.Errorf("%q is not a header", line)
		}
		key, value = http.CanonicalHeaderKey(key), strings.TrimSpace(value)
		if !set[key] {
			s.header.Del(key)
		}
		set[key] = true
		if value != "" {
			s.header.Add(key, value)
		}
	}
	return s, nil
}

// server is one of the two that are compared.
type server struct {
	endpoint string
	client   *http.Client
	working  chan struct{} // gets a value for each call that has reached the tool "wait"
}

// answers sends the steps of a conversation, and returns what came of each, normalized.
func (s *server) answers(t *testing.T, steps []step) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	variables := map[string]string{"meta": meta, "session": "none", "cursor": "none", "state": "none"}
	answers := map[string]any{}
	type late struct {
		name   string
		answer any
	}
	background, pending := make(chan late, len(steps)), 0
	for _, step := range steps {
		expand := func(text string) string {
			for name, value := range variables {
				text = strings.ReplaceAll(text, "${"+name+"}", value)
			}
			return text
		}
		r, err := http.NewRequestWithContext(ctx, step.method, s.endpoint, strings.NewReader(expand(step.body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = step.host
		for key, values := range step.header {
			for _, value := range values {
				r.Header.Add(key, expand(value))
			}
		}
		if step.background {
			pending++
			go func() {
				answer, _ := s.answer(r, step.first)
				background <- late{step.name, answer}
			}()
			select {
			case <-s.working:
			case <-ctx.Done():
				t.Fatalf("step %s has not reached its tool", step.name)
			}
			continue
		}
		answer, found := s.answer(r, step.first)
		answers[step.name] = answer
		for name, value := range found {
			variables[name] = value
		}
	}
	for range pending {
		l := timebox.Receive(t, background)
		answers[l.name] = l.answer
	}
	return answers
}

// answer sends a request and returns its answer as a JSON value: status, kind, and the messages in it, wherever they
// stand; and what later steps may refer to.
func (s *server) answer(r *http.Request, first int) (any, map[string]string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	resp, err := s.client.Do(r.WithContext(ctx))
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	defer resp.Body.Close()
	found := map[string]string{}
	answer := map[string]any{}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		found["session"] = id
		answer["session"] = "SESSION"
	}
	outcome := strconv.Itoa(resp.StatusCode)
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var messages []any
	switch {
	case mediaType == "text/event-stream":
		if messages = events(resp.Body, first); len(messages) == 0 {
			outcome += " stream"
		}
	case mediaType == "application/json":
		var message any
		d := json.NewDecoder(resp.Body)
		d.UseNumber()
		if err := d.Decode(&message); err != nil {
			return map[string]any{"error": "decode: " + err.Error()}, nil
		}
		if batch, ok := message.([]any); ok {
			messages = batch
		} else {
			messages = []any{message}
		}
	case resp.ContentLength != 0:
		if body, _ := io.ReadAll(resp.Body); len(body) > 0 {
			outcome += " " + mediaType
		}
	}
	byID := map[string]any{} // answers of a batch come in any order
	for i, m := range messages {
		normalize(m, found)
		name, kind := label(m, i)
		byID[name] = m
		outcome += ", " + kind
	}
	if len(byID) > 0 {
		answer["messages"] = byID
	}
	answer[outcomeKey] = outcome
	return answer, found
}

// outcomeKey is where the outcome of an answer stands: its status and what its messages are. Where outcomes differ,
// nothing else is compared.
const outcomeKey = "outcome"

// label names a message of an answer, and says what it is.
func label(message any, i int) (name, kind string) {
	m, ok := message.(map[string]any)
	if !ok {
		return fmt.Sprintf("message %d", i), "no message"
	}
	if method, ok := m["method"].(string); ok {
		return fmt.Sprintf("%s %d", method, i), method
	}
	kind = "result"
	if e, ok := m["error"].(map[string]any); ok {
		kind = fmt.Sprintf("error %v", e["code"])
	} else if r, ok := m["result"].(map[string]any); ok && r["isError"] == true {
		kind = "result with isError"
	}
	if m["id"] == nil {
		return "answer", kind
	}
	return fmt.Sprintf("answer to %v", m["id"]), kind
}

// events reads the messages of an event stream; first bounds how many, 0: to the end.
func events(body io.Reader, first int) (messages []any) {
	if first < 0 {
		return nil
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	var data strings.Builder
	for lines.Scan() {
		line := lines.Text()
		if text, ok := strings.CutPrefix(line, "data:"); ok {
			data.WriteString(strings.TrimPrefix(text, " "))
		}
		if line != "" || data.Len() == 0 {
			continue
		}
		var message any
		d := json.NewDecoder(strings.NewReader(data.String()))
		d.UseNumber()
		if err := d.Decode(&message); err != nil {
			message = map[string]any{"error": err.Error()}
		}
		data.Reset()
		if messages = append(messages, message); first > 0 && len(messages) == first {
			break
		}
	}
	return messages
}
