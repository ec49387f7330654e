package redact

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/test/cases"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

var accept = flag.Bool("update", false, "accept what the cases give")

// TestError runs the cases of testdata: the error of a service, and its redacted text. Each text is redacted unchanged,
// and again as a JSON string, with the same result.
func TestError(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, path string, archive *txtar.Archive) {
		message, want := string(archive.Files[0].Data), string(archive.Files[1].Data)
		got := Error(message)
		if *accept {
			archive.Files[1].Data = []byte(got)
			cases.Write(t, path, archive)
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if strings.HasPrefix(message, "{") {
			if !json.Valid([]byte(got)) {
				t.Errorf("this is no JSON any more: %s", got)
			}
			return
		}
		literal := Error(string(jsonscan.AppendString([]byte(`{"error":`), message)) + "}")
		var back struct{ Error string }
		if err := json.Unmarshal([]byte(literal), &back); err != nil {
			t.Fatalf("in JSON: %v: %s", err, literal)
		}
		if diff := cmp.Diff(want, back.Error); diff != "" {
			t.Errorf("in JSON: %s", diff)
		}
		inner := jsonscan.AppendString([]byte(`{"error":`), message)
		literal = Error(string(jsonscan.AppendString([]byte(`{"error":`), string(inner)+"}")) + "}")
		if err := json.Unmarshal([]byte(literal), &back); err != nil {
			t.Fatalf("in JSON in JSON: %v: %s", err, literal)
		}
		if err := json.Unmarshal([]byte(back.Error), &back); err != nil {
			t.Fatalf("in JSON in JSON: %v: %s", err, literal)
		}
		if diff := cmp.Diff(want, back.Error); diff != "" {
			t.Errorf("in JSON in JSON: %s", diff)
		}
	})
}

// FuzzError checks that JSON stays JSON, and that redaction is idempotent.
func FuzzError(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range files {
		if archive, err := txtar.ParseFile(path); err == nil {
			f.Add(string(archive.Files[0].Data))
			f.Add(`{"e":"{\"a\":` + string(jsonscan.AppendString(nil, string(archive.Files[0].Data)[:min(100, len(archive.Files[0].Data))])))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 16<<10 {
			return
		}
		got := Error(text)
		if json.Valid([]byte(text)) && !json.Valid([]byte(got)) && strings.ContainsAny(text, `{["`) {
			t.Errorf("%q → %q", text, got)
		}
		quoted := text
		for range 4 { // one level more than is decoded
			if quoted = string(jsonscan.AppendString(nil, strings.ToValidUTF8(quoted, ""))); !json.Valid([]byte(Error(quoted))) {
				t.Errorf("%s → %s", quoted, Error(quoted))
			}
		}
	})
}

// TestTime checks that no text makes the patterns slow. Each text has the maximum length.
func TestTime(t *testing.T) {
	const most = 16 << 10
	for _, piece := range []string{"a", "eyJ", "eyJaaaaa.", "-----BEGIN PRIVATE KEY-----", "at a(", "\nat ", "password=", "password\"", "::", "1:", "http://", "://", "\\n", "\" ",
		"#0 a(1): ", "goroutine 1 [a]:\n", "File \"", "a.b.", "bearer ", `bearer \\\\`, `bearer a\\/`, "cookie=", "1.1.1.", "dial tcp ", "/a", "\n  File \"a\", line 1\n    ", "pwd=(", "a\\", `\\u0070`, `\\\/`, `password\":\"a\\\"`, ".go:1", "\nx()\n\t/a.go:1",
		"password=[\"a\",", `pwd:["x","`, `","a1","`, `["password","`, `"name":"password","value":"`, "<password>", "</", "response=", "/a.py:1 ", "/a/b", "C:\\a\\", "ENOENT: a, open '/a", "[Errno 1] a: '/a",
		"open /a: permission denied", "include(/a", " panicked at a.rs:1", "\n  1: a\n  at b:1", "acktrace: \n 1: a", "\n    (a 1) a.ex:1: ", "\n\ta: in x", "\n#0  a (dart:x", "\n#0 0x1 in ",
		"\n a, called at a:1:1 in x", "\n[1] a @ ", "\nCalled from a, line 1, characters 1", "\n\ta(a) called at ", "\n   bei a.b(", "fd00:", "a:1.1.1.1:"} {
		text := strings.Repeat(piece, most/len(piece))
		if took := timebox.Fastest(2*time.Second, func() { Error(text) }); took > 2*time.Second { // a hundred times the duration on an idle machine
			t.Errorf("%q: %v", piece, took)
		} else if testing.Verbose() {
			t.Logf("%q: %v", piece, took)
		}
		if took := timebox.Fastest(time.Second, func() { Error(`{"a":"` + text[:len(text)/4]) }); took > time.Second {
			t.Errorf("in JSON: %q: %v", piece, took)
		}
	}
}

// TestTimeOfMore checks that a text beyond the maximum length takes time proportional to its length.
func TestTimeOfMore(t *testing.T) {
	for _, piece := range []string{"password:", "token=", "password: ", "apikey:'", `password=\"a`} {
		text := strings.Repeat(piece, race.Fewer(256<<10, 64<<10)/len(piece))
		if took := timebox.Fastest(4*time.Second, func() { Error(text) }); took > 4*time.Second {
			t.Errorf("%q: %v", piece, took)
		} else if testing.Verbose() {
			t.Logf("%q: %v", piece, took)
		}
	}
}

// TestLongSecret checks that nothing remains of a secret that is longer than the search for its end.
func TestLongSecret(t *testing.T) {
	for _, sign := range []string{"=", ": "} {
		if got, want := Error("password"+sign+strings.Repeat("aB3", 2<<10)+" is wrong"), "password"+sign+Placeholder+" is wrong"; got != want {
			t.Errorf("%q: %.200s", sign, got)
		}
	}
}

// BenchmarkError measures an error as most services make them: nothing is removed.
func BenchmarkError(b *testing.B) {
	const text = `{"type":"https://example.com/problems/invalid","title":"Invalid request","status":422,"errors":[{"field":"amount","message":"must be greater than 0"},` +
		`{"field":"currency","message":"\"EURO\" is not a currency; use a code of ISO 4217, such as EUR"}],"hint":"look at C:\\docs\\api for a list"}`
	for name, message := range map[string]string{
		"short": text, "long": `[` + strings.Repeat(text+",", 15) + text + `]`, "plain": strings.ReplaceAll(text, `\\`, "/"),
		// Lines of the same length, one mostly backslashes: it may take at most a few times as long.
		"slashed": `{"message":"` + strings.Repeat(`C:\\docs\\api `, 600) + `"}`, "unslashed": `{"message":"` + strings.Repeat(`C:/docs/api/x/y `, 600) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			for b.Loop() {
				Error(message)
			}
		})
	}
}
