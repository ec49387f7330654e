package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/readiness"
	"drawbridge/test/cases"
)

// TestModelResponses asks a scripted model: the files "response" of a case are a status, headers, an empty line and a body, and are sent one
// after the other. "answer" is the text that is read of the last one, or the error.
func TestModelResponses(t *testing.T) {
	cases.Run(t, "testdata/model/*.txtar", func(t *testing.T, _ string, a *txtar.Archive) {
		responses := a.Files[:len(a.Files)-1]
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked == len(responses) {
				t.Error("the model is asked once more")
				return
			}
			head, body, _ := strings.Cut(string(responses[asked].Data), "\n\n")
			asked++
			lines := strings.Split(head, "\n")
			for _, line := range lines[1:] {
				name, value, _ := strings.Cut(line, ": ")
				w.Header().Set(name, value)
			}
			status, err := strconv.Atoi(strings.TrimSpace(lines[0]))
			if err != nil {
				t.Error(err)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer server.Close()
		m := &model{url: server.URL, name: "small", transport: &http.Transport{}}
		defer m.transport.CloseIdleConnections()
		got, err := m.complete(t.Context(), &readiness.Request{Prompt: "Describe.", Parts: "{}"})
		if err != nil {
			got = "error: " + err.Error()
		}
		if want := strings.TrimSpace(string(a.Files[len(responses)].Data)); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if asked != len(responses) {
			t.Errorf("asked %d times, want %d", asked, len(responses))
		}
	})
}
