package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/answer"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "rewrite what the cases in testdata expect")

// eachCase runs a subtest for each archive of a directory. run returns the expected content of the file named want.
func eachCase(t *testing.T, dir string, run func(t *testing.T, a *txtar.Archive) map[string]string) {
	t.Helper()
	cases.Run(t, filepath.Join("testdata", dir, "*.txtar"), func(t *testing.T, name string, a *txtar.Archive) {
		got := run(t, a)
		changed := false
		for file, text := range got {
			i := index(a, file)
			if i < 0 {
				if !*update {
					t.Errorf("case has no file %q; run with -update", file)
					continue
				}
				// The expectation of NAME.x follows it.
				i = len(a.Files)
				a.Files = append(a.Files, txtar.File{Name: file})
			}
			if diff := cmp.Diff(string(a.Files[i].Data), text); diff != "" {
				if !*update {
					t.Errorf("%s (-want +got):\n%s", file, diff)
				}
				a.Files[i].Data, changed = []byte(text), true
			}
		}
		if changed && *update {
			cases.Write(t, name, a)
		}
	})
}

func index(a *txtar.Archive, name string) int {
	for i, f := range a.Files {
		if f.Name == name {
			return i
		}
	}
	return -1
}

func file(a *txtar.Archive, name string) string {
	if i := index(a, name); i >= 0 {
		return string(a.Files[i].Data)
	}
	return ""
}

// compileCase loads the document of a case, which is the first file named spec.*, and compiles it.
func compileCase(t *testing.T, a *txtar.Archive) (*API, error) {
	t.Helper()
	dir := t.TempDir()
	spec := ""
	for _, f := range a.Files {
		if name := filepath.Join(dir, filepath.FromSlash(f.Name)); strings.HasSuffix(f.Name, ".yaml") || strings.HasSuffix(f.Name, ".json") {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
			if spec == "" && strings.HasPrefix(f.Name, "spec.") {
				spec = name
			}
		}
	}
	o, location := CompileOptions{}, ""
	for line := range strings.Lines(file(a, "options")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "base_url":
			u, err := url.Parse(value)
			if err != nil {
				t.Fatal(err)
			}
			o.BaseURL = u
		case "allow":
			o.AllowServers = append(o.AllowServers, value)
		case "fetched":
			location = value
		case "reserved":
			in, name, _ := strings.Cut(value, " ")
			o.Reserved = append(o.Reserved, Reserved{In: in, Name: name})
		case "output":
			o.Output = OutputOff
		case "profile":
			o.Profile = ProfilePortable
		case "html":
			o.ReadableHTML = true
		case "slash":
			name, as, _ := strings.Cut(value, " ")
			o.SlashParameters = append(o.SlashParameters, SlashParameter{Name: name, Encoded: as == "encoded"})
		case "variable":
			name, text, _ := strings.Cut(value, " ")
			if o.ServerVariables == nil {
				o.ServerVariables = make(map[string]string)
			}
			o.ServerVariables[name] = text
		case "max_depth":
			fmt.Sscan(value, &o.MaxDepth)
		case "max_operations":
			fmt.Sscan(value, &o.MaxOperations)
		case "":
		default:
			t.Fatalf("unknown option %q", key)
		}
	}
	from := LoadOptions{}
	if location != "" { // the document comes from a URL
		from.Client = &http.Client{Transport: served(file(a, filepath.Base(spec)))}
		spec = location
	}
	doc, err := Load(t.Context(), spec, from)
	if err != nil {
		return nil, relative(err, dir)
	}
	api, err := doc.Compile(t.Context(), o)
	if err != nil {
		return nil, relative(err, dir)
	}
	// Positions without the temporary directory.
	strip := func(s *string) { *s = strings.ReplaceAll(*s, dir+"/", "") }
	for i := range api.Problems {
		strip(&api.Problems[i].Position.File)
		strip(&api.Problems[i].Message)
	}
	for i := range api.Skipped {
		strip(&api.Skipped[i].Position.File)
		strip(&api.Skipped[i].Reason)
	}
	return api, nil
}

// served answers every request with a text.
type served string

func (s served) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(s))), Request: req}, nil
}

func relative(err error, dir string) error {
	return errors.New(strings.ReplaceAll(err.Error(), dir+"/", ""))
}

// find returns the operation that a case names by its id, or by method and path.
func find(t *testing.T, api *API, name string) *Operation {
	t.Helper()
	for _, op := range api.Operations {
		if op.ID == name || op.Method+" "+op.Path == name {
			return op
		}
	}
	t.Fatalf("no operation %q; skipped: %v", name, api.Skipped)
	return nil
}

// TestRequests: document and arguments → the HTTP request, or the message to the model. The file calls has one call per
// line, "operationId arguments"; want has the requests in the same order.
func TestRequests(t *testing.T) {
	eachCase(t, "requests", func(t *testing.T, a *txtar.Archive) map[string]string {
		api, err := compileCase(t, a)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for line := range strings.Lines(file(a, "calls")) {
			name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
			if name == "" {
				continue
			}
			fmt.Fprintf(&b, "> %s %s\n", name, args)
			op := find(t, api, name)
			built, err := op.Build(t.Context(), nil, json.RawMessage(args))
			if len(built.Dropped) > 0 {
				fmt.Fprintf(&b, "dropped: %s\n", strings.Join(built.Dropped, ", "))
			}
			var m interface{ ToolMessage() string }
			switch {
			case errors.As(err, &m):
				b.WriteString(m.ToolMessage())
			case err != nil:
				fmt.Fprintf(&b, "error: %v\n", err)
			default:
				b.WriteString(onTheWire(t, built.Request))
			}
			b.WriteString("\n")
		}
		return map[string]string{"want": b.String()}
	})
}

// boundary matches the random result of NewBoundary.
var boundary = regexp.MustCompile(`drawbridge-[A-Z2-7]{26}`)

// onTheWire returns a request as the server will read it.
func onTheWire(t *testing.T, req *http.Request) string {
	t.Helper()
	if req.Body != nil {
		if req.GetBody == nil {
			t.Error("the request has a body and no GetBody: it could not be sent again")
		} else if again, err := req.GetBody(); err != nil {
			t.Error(err)
		} else if text, err := io.ReadAll(again); err != nil || int64(len(text)) != req.ContentLength {
			t.Errorf("GetBody gives %d bytes, %v; ContentLength is %d", len(text), err, req.ContentLength)
		}
	}
	var b bytes.Buffer
	req.Header.Set("User-Agent", "")
	if err := req.Write(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.String(), "\r\n", "\n")
	text = boundary.ReplaceAllString(text, "BOUNDARY")
	head, body, _ := strings.Cut(text, "\n\n")
	if body == "" {
		return head + "\n"
	}
	return head + "\n\n" + visible(strings.TrimRight(body, "\n")) + "\n"
}

// visible returns a body with the bytes that are not text as \xNN.
func visible(body string) string {
	var b strings.Builder
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRuneInString(body[i:])
		if size == 1 && (r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t') {
			fmt.Fprintf(&b, "\\x%02x", body[i])
		} else {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// TestCompile: document → the operations with their schemas, and the skipped and repaired parts.
func TestCompile(t *testing.T) {
	eachCase(t, "compile", func(t *testing.T, a *txtar.Archive) map[string]string {
		api, err := compileCase(t, a)
		if err != nil {
			return map[string]string{"want": "error: " + err.Error() + "\n"}
		}
		var b strings.Builder
		for _, op := range api.Operations {
			fmt.Fprintf(&b, "%s %s\n", op.Method, op.Path)
			show := func(key, value string) {
				if value != "" {
					fmt.Fprintf(&b, "  %s: %s\n", key, value)
				}
			}
			show("id", op.ID)
			show("summary", op.Summary)
			show("description", op.Description)
			show("tags", strings.Join(op.Tags, ", "))
			if op.Deprecated {
				show("deprecated", "true")
			}
			show("returns", op.Returns)
			if op.Base != nil {
				show("base", op.Base.String())
			}
			show("no base", op.BaseProblem)
			if op.Security != nil {
				show("security", fmt.Sprint(op.Security))
			}
			show("input", string(op.Input))
			show("output", string(op.Output))
			show("example", string(op.Example))
			if input, output := op.Published(ProfileFull); string(input) != string(op.Input) {
				show("published input", string(input))
				show("published output", string(output))
			}
			if err := op.CheckSchema(); err != nil {
				t.Errorf("%s %s: %v", op.Method, op.Path, err)
			}
		}
		for _, s := range api.Skipped {
			fmt.Fprintf(&b, "%v\n", s)
		}
		for _, p := range api.Problems {
			fmt.Fprintf(&b, "%s %v\n", p.Code, p)
		}
		return map[string]string{"want": b.String()}
	})
}

// TestAnswers: an HTTP response → its parts. The files *.answer hold responses as received; the first line names the
// operation. With the header Test-Deadline the body does not end before the deadline.
func TestAnswers(t *testing.T) {
	eachCase(t, "answers", func(t *testing.T, a *txtar.Archive) map[string]string {
		api, err := compileCase(t, a)
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]string)
		for _, f := range a.Files {
			name, ok := strings.CutSuffix(f.Name, ".answer")
			if !ok {
				continue
			}
			id, text, _ := strings.Cut(string(f.Data), "\n")
			op := find(t, api, id)
			want[name+".parts"] = answerParts(t, op, unescapeBytes(t, text))
		}
		return want
	})
}

func answerParts(t *testing.T, op *Operation, text string) string {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	status, headers, _ := strings.Cut(head, "\n")
	resp := &http.Response{Header: http.Header{}, ContentLength: int64(len(body))}
	if _, err := fmt.Sscan(status, &resp.StatusCode); err != nil {
		t.Fatalf("status %q: %v", status, err)
	}
	for line := range strings.Lines(headers) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		resp.Header.Set(key, value)
	}
	closed := &closeRecorder{Reader: strings.NewReader(body)}
	if resp.Header.Get("Test-Deadline") != "" {
		closed.Reader = io.MultiReader(closed.Reader, timeoutReader{})
	}
	resp.Body = closed
	var b strings.Builder
	kinds := map[answer.Kind]string{answer.JSON: "json", answer.Text: "text", answer.Image: "image", answer.Audio: "audio", answer.Binary: "binary"}
	err := readParts(op.Answers, resp, func(p answer.Part) error {
		fmt.Fprintf(&b, "%s %q", kinds[p.Kind], p.MediaType)
		if p.Wrapped {
			b.WriteString(" wrapped")
		}
		if p.Drift != "" {
			fmt.Fprintf(&b, " drift(%s)", p.Drift)
		}
		if p.DuplicateName {
			b.WriteString(" doubled")
		}
		if p.Declared {
			b.WriteString(" declared")
		}
		if p.File != "" {
			fmt.Fprintf(&b, " file(%s)", p.File)
		}
		if p.Field != "" {
			fmt.Fprintf(&b, " field(%s)", p.Field)
		}
		if p.Events > 0 {
			fmt.Fprintf(&b, " cut after %d", p.Events)
		}
		if p.More {
			b.WriteString(" more")
		}
		switch p.Kind {
		case answer.JSON, answer.Text:
			fmt.Fprintf(&b, "\n%s\n", p.Data)
		default:
			fmt.Fprintf(&b, "\n%q\n", p.Data)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	if b.Len() == 0 {
		b.WriteString("nothing\n")
	}
	if !closed.closed {
		t.Error("the body is not closed")
	}
	return b.String()
}

type closeRecorder struct {
	io.Reader
	closed bool
}

func (c *closeRecorder) Close() error { c.closed = true; return nil }

// timeoutReader is a stream that was silent until the deadline.
type timeoutReader struct{}

func (timeoutReader) Read([]byte) (int, error) { return 0, context.DeadlineExceeded }

// unescapeBytes replaces \xNN and \n at the end of a line, so that cases can hold bytes that are not text.
func unescapeBytes(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, `\x`)
		b.WriteString(before)
		if !found {
			break
		}
		var c byte
		if _, err := fmt.Sscanf(after[:2], "%02x", &c); err != nil {
			t.Fatal(err)
		}
		b.WriteByte(c)
		text = after[2:]
	}
	return strings.TrimSuffix(b.String(), "\n")
}
