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
		{Name: "b", API: "x", Method: "GET", Path: "/b/{id}", Words: "w", Schema: "s", Title: "B: \"b\" #1\n- x", Description: "é \u2028 <&>"},
		{Name: "a", API: "x", Method: "POST", Path: "/a", Words: "w", Schema: "s"},
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
	b := LockedTool{API: "y", Method: "GET", Path: "/b", Words: "v", Schema: "t"}
	if got, want := b.Differs(a), []string{"API", "method", "path", "title or description", "schema"}; !reflect.DeepEqual(got, want) {
		t.Errorf("differs in %q", got)
	}
	if empty, err := parseLock("l", NewLock(nil).Encode()); err != nil || len(empty.Tools()) != 0 {
		t.Errorf("no tools: %v, %v", empty, err)
	}
	if _, err := ReadLock(path + ".none"); !errors.Is(err, os.ErrNotExist) || err.Error() != path+".none: can't be read: no such file or directory" {
		t.Errorf("a missing file: %v", err)
	}
}

func TestLockProblems(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "l: is no lock file: drawbridge lock writes one",
		"- a":                                "l: is no lock file: drawbridge lock writes one",
		"tools: {}":                          "l: has not version 1, which this version of drawbridge reads",
		"version: 2\ntools: {}":              "l: has not version 1, which this version of drawbridge reads",
		"version: 1\ntool: {}":               "l:2:1: tool: unknown key",
		"version: 1\ntools: []":              "l:2:8: tools: expected a mapping",
		"version: 1\ntools: {a: 1}":          "l:2:12: tools.a: expected a mapping",
		"version: 1\ntools: {a: {}}":         "l:2:12: tools.a.api: is missing",
		"version: 1\ntools: {a: {api: [x]}}": "l:2:18: tools.a.api: expected a string",
		"version: 1\ntools: {a: {apis: x}}":  "l:2:13: tools.a.apis: unknown key",
		"version: 1\n---\n{}":                "l:3:1: begins a second YAML document (---)",
		"version: 1\ntools:\n  a: &a {api: x, method: GET}\n": "l:3:6: tools.a.path: is missing",
	} {
		if _, err := parseLock("l", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzLock: whatever stands in a file, reading it ends, and what was read is written so that it reads the same.
func FuzzLock(f *testing.F) {
	f.Add(NewLock([]LockedTool{{Name: "a", API: "x", Method: "GET", Path: "/", Words: "w", Schema: "s", Title: "t"}}).Encode())
	f.Add([]byte("version: 1\ntools: {}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parseLock("l", text)
		if err != nil {
			return
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
