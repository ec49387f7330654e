package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSpread prints the median first, then the extremes.
func TestSpread(t *testing.T) {
	if got := spread([]float64{3, 1, 2.4}, "%.0f"); got != "2 (1 to 3)" {
		t.Errorf("the spread is %q", got)
	}
}

// TestChoose: a program or a step that does not exist is an error, and not a shorter comparison.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		only, names string
		programs    int // 0 for an error
	}{
		{"documents,calls", "", 2},
		{"documents", "FastMCP", 1},
		{"documents", "fastmcp", 0},
		{"documents", "FastMCP,", 0},
		{"document", "", 0},
		{"", "", 0},
	} {
		m := measurement{only: strings.Split(c.only, ","), programs: []program{{name: "drawbridge"}, {name: "FastMCP"}}}
		if err := m.choose(c.names); (err != nil) != (c.programs == 0) || err == nil && len(m.programs) != c.programs {
			t.Errorf("-only %q -programs %q: %d programs, %v", c.only, c.names, len(m.programs), err)
		}
	}
}

// TestCheck: nothing is measured of a program that can't be started, and the error names all of them.
func TestCheck(t *testing.T) {
	missing := func(name string) program {
		return program{name: name, version: output("drawbridge-does-not-exist")}
	}
	broken := program{
		name:    "broken",
		version: func(context.Context) (string, error) { return "1", nil },
		stdio: func(context.Context, string, string, string) (*exec.Cmd, error) {
			return exec.Command("false"), nil
		},
	}
	err := measurement{programs: []program{missing("absent"), broken}, only: steps}.run(t.Context(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "absent: its version") || !strings.Contains(err.Error(), "broken: a document with one operation") {
		t.Errorf("the error is %v", err)
	}
}

// TestService answers with the order that a call is held against.
func TestService(t *testing.T) {
	service := newService()
	defer service.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.URL+"/orders/1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := service.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ContentLength < 1000 {
		t.Errorf("the order has %d bytes", response.ContentLength)
	}
}

// TestCases: each case has a document, and a request that counts as its own and not as another's.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/requests/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	for _, file := range files {
		c, err := readCase(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if !json.Valid(c.document) {
			t.Errorf("%s: the document is not JSON", file)
		}
		if fault := c.want.difference(c.want); fault != "" {
			t.Errorf("%s: the request differs from itself: %s", file, fault)
		}
		for name, other := range map[string]request{"nothing": {}, "path": parseRequest(c.want.method + " /elsewhere")} {
			if c.want.difference(other) == "" {
				t.Errorf("%s: another request counts as right: %s", file, name)
			}
		}
	}
}

// TestDifference: spellings of the same value are the same, other values are not.
func TestDifference(t *testing.T) {
	const json = "POST /a\nContent-Type: application/json\n\n"
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"GET /a%20b?x=1%2C2", "GET /a%20b?x=1,2", true},
		{"GET /a%2Fb", "GET /a/b", false},
		{"GET /a?x=1&x=2", "GET /a?x=1,2", false},
		{json + `{"a": 1, "b": 2}`, json + `{"b":2,"a":1}`, true},
		{json + `{"n":9007199254740993}`, json + `{"n":9007199254740992}`, false},
		{json + `{"n":null}`, json + `{}`, false},
	} {
		if fault := parseRequest(c.want).difference(parseRequest(c.got)); (fault == "") != c.same {
			t.Errorf("%q and %q: %q", c.want, c.got, fault)
		}
	}
}

// TestPlace: arguments go where the schema of a tool has them, as the servers that are compared publish it.
func TestPlace(t *testing.T) {
	var c requestCase
	c.arguments.Parameters = map[string]any{"id": "1"}
	c.arguments.Body = map[string]any{"id": "2", "name": "lamp"}
	for _, test := range []struct{ schema, want string }{
		{`{"properties":{"id":{},"requestBody":{"type":"object"}}}`, `{"id":"1","requestBody":{"id":"2","name":"lamp"}}`},
		{`{"properties":{"id__path":{},"id":{},"name":{}}}`, `{"id__path":"1","id":"2","name":"lamp"}`},
		{`{"properties":{"path":{"properties":{"id":{}}},"body":{"properties":{"id":{}}}}}`, `{"path":{"id":"1"},"body":{"id":"2","name":"lamp"}}`},
	} {
		var schema, want map[string]any
		if json.Unmarshal([]byte(test.schema), &schema) != nil || json.Unmarshal([]byte(test.want), &want) != nil {
			t.Fatal(test)
		}
		if got := c.place(&mcp.Tool{InputSchema: schema}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the arguments are %v, want %v", test.schema, got, want)
		}
	}
}
