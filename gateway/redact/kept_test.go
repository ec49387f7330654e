package redact

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
	"drawbridge/test/timebox"
)

// TestKept runs the cases of testdata/kept: the arguments of a call, the hosts of the document, the status of the
// response, the service's error, and its redacted text.
func TestKept(t *testing.T) {
	cases.Run(t, "testdata/kept/*.txtar", func(t *testing.T, path string, archive *txtar.Archive) {
		kept, message, status := &Kept{}, "", 400
		for i, f := range archive.Files {
			switch text := string(f.Data); {
			case f.Name == "arguments":
				kept.Sent = NewSentHosts(f.Data)
			case f.Name == "document":
				kept.Document = NewPublicHosts(strings.Fields(text))
			case f.Name == "status":
				status, _ = strconv.Atoi(strings.TrimSpace(text))
			case strings.HasPrefix(f.Name, "said"):
				message = text
			default:
				kept.Links = status < 500
				got := Redactor{Kept: kept}.Error(message, false)
				if strings.HasPrefix(message, "{") && !json.Valid([]byte(got)) {
					t.Errorf("this is no JSON any more: %s", got)
				}
				if *accept {
					archive.Files[i].Data = []byte(got)
				} else if diff := cmp.Diff(text, got); diff != "" {
					t.Errorf("%s: %s", f.Name, diff)
				}
			}
		}
		if *accept {
			cases.Write(t, path, archive)
		}
	})
}

// FuzzKept checks that JSON stays JSON, and that kept hosts make no difference but for URLs and addresses.
func FuzzKept(f *testing.F) {
	f.Add(`{"a":"https://docs.depot.example/x?token=1&b=2#c"}`, `{"a":"10.0.0.1","b":"http://[2001:db8::1]:80/x"}`)
	f.Add(`dial tcp 10.0.0.1:80, see https:\/\/depot.example\/a`, `["depot.example","%31%30.0.0.1"]`)
	f.Fuzz(func(t *testing.T, text, arguments string) {
		if len(text) > 16<<10 || !json.Valid([]byte(arguments)) {
			return
		}
		got := errorKeeping(text, &Kept{Sent: NewSentHosts([]byte(arguments)), Document: NewPublicHosts([]string{"depot.example"}), Links: true})
		if json.Valid([]byte(text)) && !json.Valid([]byte(got)) && strings.ContainsAny(text, `{["`) {
			t.Errorf("%q → %q", text, got)
		}
		if !strings.Contains(arguments, ".") && !strings.Contains(arguments, ":") && strings.Contains(text, "10.0.0.1 ") && strings.Contains(got, "10.0.0.1 ") && !strings.Contains(Error(text), "10.0.0.1 ") {
			t.Errorf("%q → %q", text, got)
		}
	})
}

// TestKeptTime checks that no text and no arguments make the search for kept hosts slow.
func TestKeptTime(t *testing.T) {
	const most = 16 << 10
	for _, piece := range []string{"https://a.bc/ ", "https://a.bc/?token=1&", "https://a.bc/?a=1&b=2;", "timeout https://a.bc ", `https:\/\/a.bc `, "a.b.", "::", "1.1.1.1 ", "%31", "a:80 ", "failed to ", "hooks.slack.com/services/"} {
		text := strings.Repeat(piece, most/len(piece))
		arguments, _ := json.Marshal(map[string]string{"a": strings.Repeat(piece, maxArguments/2/len(piece))})
		kept := &Kept{Links: true}
		if took := timebox.Fastest(2*time.Second, func() { kept.Sent = NewSentHosts(arguments) }); took > 2*time.Second {
			t.Errorf("arguments of %q: %v", piece, took)
		} else if testing.Verbose() {
			t.Logf("arguments of %q: %v", piece, took)
		}
		for _, message := range []string{text, `{"a":"` + text + `"}`} {
			if took := timebox.Fastest(2*time.Second, func() { errorKeeping(message, kept) }); took > 2*time.Second {
				t.Errorf("%q: %v", piece, took)
			} else if testing.Verbose() {
				t.Logf("%q: %v", piece, took)
			}
		}
	}
}
