package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultClient.CloseIdleConnections()
		os.Exit(code)
	}))
}

// TestNext tells the calls and tokens since the last task was asked for.
func TestNext(t *testing.T) {
	var said []string
	desk := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		said = append(said, string(text))
	}))
	defer desk.Close()
	j := &journal{file: filepath.Join(t.TempDir(), "new", "journal.jsonl")}
	for _, step := range []func() error{
		func() error { return run(t.Context(), j, []string{desk.URL, "next"}) },
		func() error { return j.write(entry{Tool: "search_tools", Tokens: 40}) },
		func() error { return j.write(entry{Tool: "call_tool", Tokens: 2, IsError: true}) },
		func() error { return run(t.Context(), j, []string{desk.URL, "next", "it", "is", "2"}) },
		func() error { return run(t.Context(), j, []string{desk.URL, "next", "done"}) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`{"answer":"","calls":0,"tokens":0}`, `{"answer":"it is 2","calls":2,"tokens":42}`, `{"answer":"done","calls":0,"tokens":0}`}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
}

// TestChosen makes calls of commands.
func TestChosen(t *testing.T) {
	for _, c := range []struct {
		command string
		args    []string
		want    string
	}{
		{"search", []string{"send a mail"}, `search_tools {"query":"send a mail"}`},
		{"describe", []string{"a", "b"}, `describe_tools {"names":["a","b"]}`},
		{"read", []string{"a"}, `read_tool {"arguments":{},"name":"a"}`},
		{"call", []string{"a", `{"b": 1}`}, `call_tool {"arguments":{"b":1},"name":"a"}`},
		{"tool", []string{"a", `{"b": 1}`}, `a {"b":1}`},
		{"call", []string{"a", `{"b"`}, "call takes the name of a tool, and its arguments as JSON: expected URL COMMAND; -h lists the commands"},
		{"look", []string{"a"}, `there is no command "look": expected URL COMMAND; -h lists the commands`},
	} {
		tool, arguments, err := chosen(c.command, c.args)
		got := tool
		if err != nil {
			got = err.Error()
		} else if text, err := json.Marshal(arguments); err == nil {
			got += " " + string(text)
		}
		if got != c.want {
			t.Errorf("%s %q: %s, expected %s", c.command, c.args, got, c.want)
		}
	}
}
