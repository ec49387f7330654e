package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"
)

// request is what a service receives.
type request struct {
	method string
	path   string // as it was sent
	query  string
	header http.Header
	body   string
}

// requestCase is a file of testdata/requests: a document with one operation, the arguments of a call, and the request that the standard
// wants of it. An answer stands for one of the service that must become an error with a part of its text.
type requestCase struct {
	name      string
	document  []byte
	arguments struct {
		Parameters map[string]any
		Body       any
	}
	want   request
	answer string
}

func readCase(file string) (c requestCase, err error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return c, err
	}
	c.name = strings.TrimSuffix(filepath.Base(file), ".txtar")
	for _, f := range archive.Files {
		switch f.Name {
		case "openapi.json":
			c.document = f.Data
		case "arguments.json":
			d := json.NewDecoder(bytes.NewReader(f.Data))
			d.UseNumber()
			if err := d.Decode(&c.arguments); err != nil {
				return c, fmt.Errorf("%s: %w", file, err)
			}
		case "request":
			c.want = parseRequest(string(f.Data))
		case "answer":
			c.answer = strings.TrimSpace(string(f.Data))
		default:
			return c, fmt.Errorf("%s: unknown file %s", file, f.Name)
		}
	}
	if c.document == nil || c.want.method == "" {
		return c, fmt.Errorf("%s: needs openapi.json and request", file)
	}
	return c, nil
}

// parseRequest reads a request line, headers, and a body after a blank line.
func parseRequest(text string) request {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	r := request{header: http.Header{}, body: strings.TrimSuffix(body, "\n")}
	r.method, r.path, _ = strings.Cut(lines[0], " ")
	r.path, r.query, _ = strings.Cut(r.path, "?")
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		r.header.Add(name, value)
	}
	return r
}

// difference says how a request differs from the one that is wanted, or "". Other spellings of the same value don't count: of escapes in
// paths and queries, and of white space and the order of members in JSON.
func (want request) difference(got request) string {
	switch {
	case got.method == "":
		return "nothing was sent"
	case got.method != want.method:
		return "method " + got.method
	case !reflect.DeepEqual(segments(got.path), segments(want.path)):
		return "path " + got.path
	}
	wantQuery, err1 := url.ParseQuery(want.query)
	gotQuery, err2 := url.ParseQuery(got.query)
	if err1 != nil || err2 != nil || !reflect.DeepEqual(wantQuery, gotQuery) {
		return "query " + got.query
	}
	for name, values := range want.header {
		if have := got.header.Get(name); have != values[0] && (name != "Content-Type" || mediaType(have) != values[0]) {
			return fmt.Sprintf("%s %q", name, have)
		}
	}
	if !sameBody(want, got) {
		return "body " + got.body
	}
	return ""
}

func segments(path string) (all []string) {
	for segment := range strings.SplitSeq(path, "/") {
		text, err := url.PathUnescape(segment)
		if err != nil {
			text = segment
		}
		all = append(all, text)
	}
	return all
}

func mediaType(value string) string {
	t, _, err := mime.ParseMediaType(value)
	if err != nil {
		return ""
	}
	return t
}

func sameBody(want, got request) bool {
	if want.header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		a, err1 := url.ParseQuery(want.body)
		b, err2 := url.ParseQuery(got.body)
		return err1 == nil && err2 == nil && reflect.DeepEqual(a, b)
	}
	a, err1 := decode(want.body)
	b, err2 := decode(got.body)
	if err1 != nil || err2 != nil {
		return want.body == got.body
	}
	return reflect.DeepEqual(a, b)
}

// decode reads JSON with the digits of its numbers.
func decode(text string) (value any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// recorder is a service that keeps the last request.
type recorder struct {
	mu     sync.Mutex
	last   request
	answer string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = request{q.Method, q.URL.EscapedPath(), q.URL.RawQuery, q.Header, string(body)}
	w.Header().Set("Content-Type", "application/json")
	if r.answer != "" {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(r.answer)) // the client is the program that is judged
		return
	}
	_, _ = w.Write([]byte(`{"ok":true}`))
}

// requests prints for each case and program whether the request was right, and if not, what was sent.
func (m measurement) requests(ctx context.Context) error {
	files, err := filepath.Glob(m.cases)
	if err != nil {
		return fmt.Errorf("%s: %w", m.cases, err)
	}
	if len(files) == 0 {
		return fmt.Errorf("-cases: no file matches %s", m.cases)
	}
	right := make([]int, len(m.programs))
	for _, file := range files {
		c, err := readCase(file)
		if err != nil {
			return err
		}
		fmt.Println(c.name)
		for i, p := range m.programs {
			fault := c.judge(ctx, p)
			if fault == "" {
				fault = "right"
				right[i]++
			}
			fmt.Printf("  %s: %.160s\n", p.name, strings.Join(strings.Fields(fault), " "))
		}
	}
	for i, p := range m.programs {
		fmt.Printf("%s: %d of %d requests are right\n", p.name, right[i], len(files))
	}
	return nil
}

// judge calls the tool of the case and returns what is wrong with the request or the result, or "".
func (c requestCase) judge(ctx context.Context, p program) string {
	r := &recorder{answer: c.answer}
	service := httptest.NewServer(r)
	defer service.Close()
	dir, err := os.MkdirTemp("", "alternatives")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	document := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(document, bytes.ReplaceAll(c.document, []byte("SERVICE"), []byte(service.URL)), 0o600); err != nil {
		return err.Error()
	}
	s, err := open(ctx, p, document, service.URL)
	if err != nil {
		return err.Error()
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: s.tools[0].Name, Arguments: c.place(s.tools[0])})
	r.mu.Lock()
	defer r.mu.Unlock()
	if fault := c.want.difference(r.last); fault != "" {
		if text := said(result, err); r.last.method == "" {
			fault += ": " + text
		}
		return fault
	}
	if c.answer != "" && (err != nil || !result.IsError || !strings.Contains(said(result, err), "already shipped")) {
		return "not an error with the text of the service: " + said(result, err)
	}
	if c.answer == "" && (err != nil || result.IsError) {
		return "an error: " + said(result, err)
	}
	return ""
}

// said is the text of a result or error.
func said(result *mcp.CallToolResult, err error) string {
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, content := range result.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, " ")
}
