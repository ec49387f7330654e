package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// TestReadings: where the endpoint takes a body for a call, encoding/json, Python's json and JavaScript's JSON.parse read
// the same method, the same tool and the same arguments in it, or refuse it, so no proxy in front that reads with them can
// have decided on another call (H5). Documents stand in testdata/readings; the name of each begins with what the endpoint
// does, and names in brackets the readers that may refuse what it accepts. One that begins with a quotation mark is a Go string.
//
// Numbers are compared as doubles, since JavaScript keeps no more of them, and half of a surrogate pair as U+FFFD, since
// UTF-8 can carry no half; a tool has neither in its name. Arguments that are an empty list are none (pains row 166).
func TestReadings(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/readings/documents.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var documents [][]byte
	ours, read := make([]*string, len(archive.Files)), served(t)
	for i, f := range archive.Files {
		document := strings.TrimSuffix(string(f.Data), "\n")
		if strings.HasPrefix(document, `"`) {
			if document, err = strconv.Unquote(document); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
		documents = append(documents, []byte(document))
		ours[i] = read([]byte(document))
		if want := strings.HasPrefix(f.Name, "accepted"); want != (ours[i] != nil) || !want && !strings.HasPrefix(f.Name, "refused: ") {
			t.Errorf("%s: accepted %t: %.300q", f.Name, ours[i] != nil, document)
		}
	}
	input, err := json.Marshal(documents) // in base64
	if err != nil {
		t.Fatal(err)
	}
	for _, reader := range []struct {
		name    string
		command []string
	}{
		{"go", nil},
		{"python", []string{"python3", "testdata/readings/read.py"}},
		{"node", []string{"node", "testdata/readings/read.mjs"}},
	} {
		t.Run(reader.name, func(t *testing.T) {
			theirs := make([]*string, len(documents))
			if reader.command == nil {
				for i, d := range documents {
					theirs[i] = encodingReading(d)
				}
			} else {
				program, err := exec.LookPath(reader.command[0])
				if err != nil {
					t.Skipf("not run: %s is not there", reader.command[0])
				}
				c := exec.CommandContext(t.Context(), program, reader.command[1:]...)
				var stderr strings.Builder
				c.Stdin, c.Stderr = bytes.NewReader(input), &stderr
				output, err := c.Output()
				if err != nil {
					t.Fatalf("%v: %s", err, stderr.String())
				}
				if err := json.Unmarshal(output, &theirs); err != nil || len(theirs) != len(documents) {
					t.Fatalf("%d of %d readings, %v: %.300s", len(theirs), len(documents), err, output)
				}
			}
			for i, f := range archive.Files {
				switch kind, _, _ := strings.Cut(f.Name, ":"); {
				case ours[i] == nil:
				case theirs[i] != nil && strings.TrimSuffix(*theirs[i], ",[]]") == strings.TrimSuffix(*ours[i], ",{}]"): // an empty list is an empty object
				case theirs[i] != nil && *theirs[i] != *ours[i]:
					t.Errorf("%s: %.300q is %.300s here, and %.300s there", f.Name, documents[i], *ours[i], *theirs[i])
				case theirs[i] == nil && !strings.Contains(kind, reader.name):
					t.Errorf("%s: accepted here alone: %.300q", f.Name, documents[i])
				}
			}
		})
	}
}

// served returns a function that tells what a method is called with if the endpoint gets a body; nil if none is called.
func served(t *testing.T) func(body []byte) *string {
	var reading *string
	note := func(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
		reading = new(dump([]any{req.Method, req.Name, scanned(req.Arguments)}))
		return reply.Result()
	}
	h := mcp.NewHandler(mcp.Methods{"tools/call": note, "tools/list": note, "prompts/get": note},
		mcp.Options{ReloadableOptions: mcp.ReloadableOptions{MaxBody: 1 << 20, MaxDepth: 64}, Name: "test", Version: "1", Capabilities: mcp.Capabilities{Tools: true, Prompts: true}})
	post := func(body []byte, session string) http.Header {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", bytes.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if session != "" {
			r.Header["Mcp-Protocol-Version"], r.Header["Mcp-Session-Id"] = []string{"2025-06-18"}, []string{session}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Header()
	}
	session := post([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`), "").Get("Mcp-Session-Id")
	return func(body []byte) *string {
		reading = nil
		post(body, session)
		return reading
	}
}

// encodingReading is what encoding/json reads into a map. Into a struct it would fold the case of names, as no reader should.
func encodingReading(body []byte) *string {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var message map[string]any
	if !json.Valid(body) || d.Decode(&message) != nil {
		return nil
	}
	params, _ := message["params"].(map[string]any)
	name, _ := params["name"].(string)
	return new(dump([]any{message["method"], name, params["arguments"]}))
}

// scanned makes values of what stands in a text, as the packages do that build requests from arguments.
func scanned(value []byte) any {
	switch jsonscan.KindOf(value) {
	case jsonscan.Object:
		members := make(map[string]any)
		for name, v := range jsonscan.Members(value) {
			members[string(name)] = scanned(v)
		}
		return members
	case jsonscan.Array:
		elements := []any{}
		for v := range jsonscan.Elements(value) {
			elements = append(elements, scanned(v))
		}
		return elements
	case jsonscan.String:
		return string(jsonscan.Unquote(value))
	case jsonscan.Number:
		return json.Number(value)
	case jsonscan.Null, 0:
		return nil
	default:
		return string(value) == "true"
	}
}

// dump writes a value as read.py and read.mjs write it: names in order, a number as the bits of a double, and of a text the
// characters that are not plain by their numbers.
func dump(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var all []string
		for name, e := range v {
			all = append(all, dump(name)+":"+dump(e))
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ",") + "}"
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, dump(e))
		}
		return "[" + strings.Join(all, ",") + "]"
	case string:
		b := []byte{'"'}
		for _, c := range v {
			if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
				b = append(b, byte(c))
			} else {
				b = fmt.Appendf(b, "\\%x;", c)
			}
		}
		return string(append(b, '"'))
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64) // beyond its range, an infinity
		return fmt.Sprintf("%016x", math.Float64bits(f+0))
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}
