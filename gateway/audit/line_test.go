package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxLine is the maximum size of a line in bytes, including its end, that docs/observability.md promises.
const maxLine = 32 << 10

// lineSchema is what docs say of a line.
func lineSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../../docs/audit.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holds tells what is wrong with a line: it must be one, fit the schema, and have nothing in it that moves a cursor.
func holds(t testing.TB, schema *jsonschema.Schema, line []byte) map[string]any {
	t.Helper()
	if len(line) > maxLine || !bytes.HasSuffix(line, []byte("}\n")) || bytes.Count(line, []byte("\n")) != 1 || !utf8.Valid(line) {
		t.Fatalf("%d bytes: %q", len(line), line)
	}
	if i := bytes.IndexFunc(line[:len(line)-1], func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Fatalf("%q at %d of %q", line[i], i, line)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	if err := schema.Validate(v); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return v.(map[string]any)
}

var begun = time.Date(2026, 11, 22, 5, 34, 4, 123_456_789, time.FixedZone("", 3600))

func TestLine(t *testing.T) {
	schema := lineSchema(t)
	full := Line{
		Time: begun, Request: "REQ", Trace: strings.Repeat("1", 32), Issuer: "https://idp.example", Subject: "alice@example.com", Client: "agent",
		Scopes: []string{"a", "b"}, Endpoint: "orders", RPC: "tools/call", Tool: "get_order", API: "shop", Method: "GET", Path: "/orders/{id}",
		Arguments: []byte(` {"id" : 17, "x":{"y":"z"}}`), Dropped: []string{"/toolCallId"}, Shown: []byte(`{"id":17,"x":{"y":"z"}}`), Decision: Allowed, Outcome: "ok", Status: 200, Requests: 2, Sent: 3, Received: 4,
		Duration: 1234567 * time.Nanosecond,
	}
	key := []byte("0123456789abcdef0123456789abcdef")
	for _, tt := range []struct {
		name string
		o    Options
		line Line
		want string
	}{
		// The hashes are those of: printf 'subject\nhttps://idp.example\nalice@example.com' | openssl dgst -sha256 -hmac "$KEY", and of
		// printf 'arguments\n{"id":17,"x":{"y":"z"}}' | openssl dgst -sha256 -hmac "$KEY".
		{"all", Options{Replica: "host", Fields: []string{"/id", "/x", "/x/y", "/none"}}, full,
			`{"time":"2026-11-22T04:34:04.123Z","request":"REQ","trace":"11111111111111111111111111111111","issuer":"https://idp.example",` +
				`"subject_hash":"SUBJECT","client":"agent","scopes":["a","b"],"endpoint":"orders","rpc":"tools/call","tool":"get_order","api":"shop","method":"GET",` +
				`"path":"/orders/{id}","arguments_hash":"ARGUMENTS","dropped":["/toolCallId"],"fields":{"/id":17,"/x":"(object)","/x/y":"z"},"decision":"allowed","outcome":"ok","status":200,` +
				`"requests":2,"bytes_sent":3,"bytes_received":4,"duration_ms":1.234,"replica":"host"}`},
		{"plain and none", Options{Subject: PlainSubject, NoDigest: true}, full,
			`{"time":"2026-11-22T04:34:04.123Z","request":"REQ","trace":"11111111111111111111111111111111","issuer":"https://idp.example",` +
				`"subject":"alice@example.com","client":"agent","scopes":["a","b"],"endpoint":"orders","rpc":"tools/call","tool":"get_order","api":"shop","method":"GET",` +
				`"path":"/orders/{id}","dropped":["/toolCallId"],"decision":"allowed","outcome":"ok","status":200,"requests":2,"bytes_sent":3,"bytes_received":4,"duration_ms":1.234}`},
		{"little", Options{Subject: NoSubject}, Line{Time: begun, Request: "R", Subject: "alice", RPC: "tools/call", Tool: "t", Decision: Refused, Outcome: "unknown_tool", Duration: -1},
			`{"time":"2026-11-22T04:34:04.123Z","request":"R","rpc":"tools/call","tool":"t","decision":"refused","outcome":"unknown_tool","duration_ms":0}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHashes(key)
			line := tt.line.append(nil, &tt.o, h)
			holds(t, schema, line)
			other := tt.line
			other.Issuer += "x"
			if again := tt.line.append(nil, &tt.o, h); string(again) != string(line) { // with a hash that is kept
				t.Errorf("%s, and once more: %s", line, again)
			}
			if foreign := other.append(nil, &tt.o, h); hashOf(foreign) != "" && hashOf(foreign) == hashOf(line) {
				t.Errorf("two subjects of one hash: %s", foreign)
			}
			want := strings.NewReplacer("SUBJECT", "e47a8ecf6c106f38e9677189d45512961a0e2eb023f4d148c849ef5f5ea6ac95", "ARGUMENTS", "ae2c6da88a770328b9602dd346aee72f4dd949a24b5b71a21046c658a1cc7f59").Replace(tt.want)
			if got := strings.TrimSuffix(string(line), "\n"); got != want {
				t.Errorf("\n%s, want\n%s", got, want)
			}
		})
	}
}

// hashOf is that of the subject in a line.
func hashOf(line []byte) string {
	_, rest, _ := strings.Cut(string(line), `"subject_hash":"`)
	digits, _, _ := strings.Cut(rest, `"`)
	return digits
}

// TestLineIsCut has everything in a line longer than it may be, with what takes the most room.
func TestLineIsCut(t *testing.T) {
	schema := lineSchema(t)
	for _, piece := range []string{"a", "\x00", "\u2028", "\U000E0041", "é", "\xff", `"`, "世"} {
		long := strings.Repeat(piece, 4000)
		l := Line{Time: begun, Request: long, Issuer: long, Subject: long, Client: long, Endpoint: long, RPC: long, Tool: long, API: long, Method: long, Path: long,
			Decision: Allowed, Outcome: "ok", Status: 999, Requests: 1 << 40, Sent: 1 << 62, Received: 1 << 62, Duration: 1 << 62}
		for range 100 {
			l.Scopes, l.Dropped = append(l.Scopes, long), append(l.Dropped, long)
		}
		o := Options{Subject: PlainSubject, Replica: long}
		object := map[string]any{}
		for i := range 16 {
			name := strings.Repeat(string(rune('a'+i)), 250)
			o.Fields, object[name] = append(o.Fields, "/"+name), strings.ToValidUTF8(long, "?")
		}
		var err error
		if l.Arguments, err = json.Marshal(object); err != nil {
			t.Fatal(err)
		}
		l.Shown = l.Arguments
		v := holds(t, schema, l.append(nil, &o, newHashes(nil)))
		if len(v["fields"].(map[string]any)) != 16 || len(v["scopes"].([]any)) != 32 || len(v["dropped"].([]any)) != 24 || v["dropped_in_all"] != json.Number("100") {
			t.Errorf("%q: a field, a scope or a pointer is missing", piece)
		}
	}
}

// FuzzLine holds that whatever stands in a call, the line stays one line that fits the schema, and tells the truth.
func FuzzLine(f *testing.F) {
	schema := lineSchema(f)
	f.Add("tool\r\n{\"forged\":true}", "https://idp.example", "sub\u2028\u0085", `{"a":"x\r\ny\u202e"}`)
	f.Add(`"},"outcome":"ok"`, "\xff\xfe", "\x1b[2J", `{"a":1e400}`)
	f.Fuzz(func(t *testing.T, tool, issuer, subject, arguments string) {
		l := Line{Time: begun, Request: "r", Issuer: issuer, Subject: subject, RPC: "tools/call", Tool: tool, Decision: Refused, Outcome: "unknown_tool"}
		if json.Valid([]byte(arguments)) && utf8.ValidString(arguments) {
			l.Arguments, l.Shown = []byte(arguments), []byte(arguments)
		}
		if tool == "" {
			l.Tool = "t"
		}
		for _, o := range []Options{{Fields: []string{"/a"}}, {Subject: PlainSubject}} {
			v := holds(t, schema, l.append(nil, &o, newHashes(nil)))
			if v["outcome"] != "unknown_tool" || v["decision"] != "refused" {
				t.Fatalf("forged: %v", v)
			}
			if len(l.Tool) <= maxName && utf8.ValidString(l.Tool) && v["tool"] != l.Tool && len(v["tool"].(string)) <= maxName {
				t.Fatalf("tool %q became %q", l.Tool, v["tool"])
			}
		}
	})
}
