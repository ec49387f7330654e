package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestLock: what is written is read again, and the same tools give the same bytes.
func TestLock(t *testing.T) {
	tools := []LockedTool{
		{Name: "b", API: "x", Method: "GET", Path: "/b/{id}", Words: "w", Schema: "s", Request: "r", Access: "c", Answers: "n", Title: "B: \"b\" #1\n- x", Description: "é \u2028 <&>"},
		{Name: "a", API: "x", Method: "POST", Path: "/a", Words: "w", Schema: "s", Request: "r", Access: "c", Answers: "n"},
	}
	text := NewLock(tools).Encode()
	path := filepath.Join(t.TempDir(), "drawbridge.lock")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if again := read.Encode(); !bytes.Equal(again, text) {
		t.Errorf("written again:\n%s\nfirst:\n%s", again, text)
	}
	if names := read.Tools(); len(names) != 2 || names[0].Name != "a" {
		t.Errorf("tools = %+v", names)
	}
	a, _ := read.Of("a")
	b := LockedTool{API: "y", Method: "GET", Path: "/b", Words: "v", Schema: "t", Request: "q", Access: "d", Answers: "m"}
	if got, want := b.Differs(a), []string{"API", "method", "path", "title or description", "schema", "request", "access", "description of answers"}; !reflect.DeepEqual(got, want) {
		t.Errorf("differs in %q", got)
	}
	if empty, err := parseLock("l", NewLock(nil).Encode()); err != nil || len(empty.Tools()) != 0 {
		t.Errorf("no tools: %v, %v", empty, err)
	}
	old, err := parseLock("l", []byte("version: 1\ntools: {a: {api: x, method: POST, path: /a, words: w, schema: other}}"))
	if err != nil || old.Version != 1 || old.Unknown() != "request, access and answers" {
		t.Fatalf("a file of version 1: %+v, %v", old, err)
	}
	was, _ := old.Of("a")
	if got := a.Differs(was); !reflect.DeepEqual(got, []string{"schema"}) {
		t.Errorf("differs from version 1 in %q", got)
	}
	old, err = parseLock("l", []byte("version: 2\ntools: {a: {api: x, method: POST, path: /a, words: w, schema: s, request: other, access: d}}"))
	if err != nil || old.Version != 2 || old.Unknown() != "access and answers" {
		t.Fatalf("a file of version 2: %+v, %v", old, err)
	}
	was, _ = old.Of("a")
	if got := a.Differs(was); !reflect.DeepEqual(got, []string{"request"}) || read.Unknown() != "" {
		t.Errorf("differs from version 2 in %q", got)
	}
	if _, err := ReadLock(path + ".none"); !errors.Is(err, os.ErrNotExist) || err.Error() != path+".none: can't be read: no such file or directory" {
		t.Errorf("a missing file: %v", err)
	}
}

// TestLockReadsWhatItWrites: paths and titles come from documents, and one with a character that YAML refuses or folds must not make the
// file of all tools one that can't be read, or one that approves another path.
func TestLockReadsWhatItWrites(t *testing.T) {
	for text, written := range map[string]string{
		"/plain/{id}":               `"/plain/{id}"`,
		"/é/世/🐦":                    `"/é/世/🐦"`,
		"/a<b>&c'd\"e\\f #g: - h":   `"/a<b>&c'd\"e\\f #g: - h"`,
		"/a\x00\a\b\t\n\v\f\r\x1bb": `"/a\x00\a\b\t\n\v\f\r\x1bb"`,
		"/a\x7f\u0085\u009fb":       `"/a\x7f\u0085\u009fb"`,
		"/a\u2028\u2029\ufeffb":     `"/a\u2028\u2029\ufeffb"`,
		"/a\ufffe\uffff\U0010ffffb": `"/a\ufffe\uffff\U0010ffffb"`,
		"/a\u202etxt.\u200bb":       `"/a\u202etxt.\u200bb"`,
		"/\U000e0041":               `"/\U000e0041"`,
	} {
		file := NewLock([]LockedTool{{Name: "b", API: text, Method: "GET", Path: text, Words: "w", Schema: "s", Request: "r", Access: "c", Answers: "n"}}).Encode()
		if !bytes.Contains(file, []byte("path: "+written+"\n")) {
			t.Errorf("%q is not written as %s:\n%s", text, written, file)
		}
		l, err := parseLock("l", file)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if b, ok := l.Of("b"); !ok || b.Path != text || b.API != text {
			t.Errorf("%q is read as %q", text, b.Path)
		}
	}
	for b := range 256 { // what is no UTF-8 is no path of a document, and does no harm either
		if _, err := parseLock("l", NewLock([]LockedTool{{Name: "b", API: "x", Method: "GET", Path: "/" + string([]byte{byte(b)}), Words: "w", Schema: "s", Request: "r", Access: "c", Answers: "n"}}).Encode()); err != nil {
			t.Errorf("byte %x: %v", b, err)
		}
	}
}

func TestLockProblems(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "l: is no lock file: drawbridge lock writes one",
		"- a":                    "l: is no lock file: drawbridge lock writes one",
		"tools: {}":              "l: has none of the versions 3, 2 and 1, which this version of drawbridge reads",
		"version: 4\ntools: {}":  "l: has none of the versions 3, 2 and 1, which this version of drawbridge reads",
		"version: ''\ntools: {}": "l: has none of the versions 3, 2 and 1, which this version of drawbridge reads",
		"version: 3\ntools: {a: {api: x, method: G, path: /, words: w, schema: s, request: r, access: c}}": "l:2:12: tools.a.answers: is missing",
		"version: 2\ntools: {a: {answers: x}}":                                      "l:2:13: tools.a.answers: unknown key",
		"version: 2\ntools: {a: {api: x, method: G, path: /, words: w, schema: s}}": "l:2:12: tools.a.request: is missing",
		"version: 1\ntools: {a: {request: x}}":                                      "l:2:13: tools.a.request: unknown key",
		"version: 1\ntool: {}":                                                      "l:2:1: tool: unknown key",
		"version: 1\ntools: []":                                                     "l:2:8: tools: expected a mapping",
		"version: 1\ntools: {a: 1}":                                                 "l:2:12: tools.a: expected a mapping",
		"version: 1\ntools: {a: {}}":                                                "l:2:12: tools.a.api: is missing",
		"version: 1\ntools: {a: {api: [x]}}":                                        "l:2:18: tools.a.api: expected a string",
		"version: 1\ntools: {a: {apis: x}}":                                         "l:2:13: tools.a.apis: unknown key",
		"version: 1\n---\n{}":                                                       "l:3:1: begins a second YAML document (---)",
		"version: 1\ntools:\n  a: &a {api: x, method: GET}\n":                       "l:3:6: tools.a.path: is missing",
	} {
		if _, err := parseLock("l", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzLock: whatever stands in a file, reading it ends, and what was read is written so that it reads the same.
func FuzzLock(f *testing.F) {
	f.Add(NewLock([]LockedTool{{Name: "a", API: "x", Method: "GET", Path: "/", Words: "w", Schema: "s", Request: "r", Access: "c", Answers: "n", Title: "t"}}).Encode())
	f.Add([]byte("version: 1\ntools: {}"))
	f.Add([]byte("version: 1\ntools: {a: {api: x, method: GET, path: /, words: w, schema: s}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parseLock("l", text)
		if err != nil {
			return
		}
		if l.Unknown() != "" {
			return // it is never written as it was
		}
		written := NewLock(l.Tools()).Encode()
		again, err := parseLock("l", written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if len(again.Tools()) != len(l.Tools()) {
			t.Fatalf("%d tools of %d", len(again.Tools()), len(l.Tools()))
		}
	})
}

// TestCutLock: a file of approved tools that is cut anywhere approves nothing that the whole one does not. (pains row 104)
func TestCutLock(t *testing.T) {
	whole := NewLock([]LockedTool{
		{Name: "a", API: "x", Method: "GET", Path: "/a", Words: "w1", Schema: "s1", Request: "r1", Access: "c1", Answers: "n1", Title: "A"},
		{Name: "ab", API: "x", Method: "GET", Path: "/ab", Words: "w2", Schema: "s2", Request: "r2", Access: "c2", Answers: "n2"},
	})
	text, read := whole.Encode(), 0
	for n := range text {
		cut, err := parseLock("l", text[:n])
		if err != nil {
			continue
		}
		read++
		for _, tool := range cut.Tools() {
			if was, ok := whole.Of(tool.Name); !ok || len(was.Differs(tool)) > 0 || cut.Unknown() != "" {
				t.Errorf("cut at %d, %+v is approved", n, tool)
			}
		}
	}
	if read == 0 {
		t.Error("no cut is read")
	}
}
