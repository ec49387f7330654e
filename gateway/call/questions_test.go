package call_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/test/gatewaytest"
)

// TestQuestions runs the cases of testdata/questions: a document, a configuration, and a call whose client answers what it
// is asked. Each case is run in all revisions of the protocol.
//
//	api.yaml       the document
//	config.yaml    the configuration; $SPEC and $BASE stand for the document's path and the service's address
//	call           {"name": …, "arguments": …, "capabilities": of the client, "answers": {key: [results, in turn]}}, or "uri" of a
//	               resource in the place of name and arguments; what is not answered is cancelled
//	transcript     expected: the tool's input schema, what is asked, what reaches the service and what the client gets.
//	               Revisions with the same transcript stand together
func TestQuestions(t *testing.T) {
	gatewaytest.Transcripts(t, "testdata/questions/*.txtar", runQuestions)
}

func runQuestions(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	var revisions []string
	transcripts := map[string][]string{}
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		service := newRawService(t, []byte("HTTP/1.1 204 No Content\nConnection: close\n\n"))
		g := gatewaytest.Start(t, gatewaytest.Section(archive, "api.yaml"), gatewaytest.Section(archive, "config.yaml"), service.url)
		server := httptest.NewServer(g.Handler())
		c := &gatewaytest.Answering{T: t, URL: server.URL + "/mcp", Revision: revision}
		if err := json.Unmarshal([]byte(gatewaytest.Section(archive, "call")), &c.Call); err != nil {
			t.Fatalf("call: %v", err)
		}
		c.Run()
		server.CloseClientConnections()
		server.Close()
		text := c.Log.String() + "service:\n" + indented(service.seen())
		if transcripts[text] == nil {
			revisions = append(revisions, text)
		}
		transcripts[text] = append(transcripts[text], revision)
	}
	var b strings.Builder
	for _, text := range revisions {
		fmt.Fprintf(&b, "== %s ==\n%s", strings.Join(transcripts[text], ", "), text)
	}
	return b.String()
}

// indented shows a request to the service, without what is in all of them.
func indented(request string) string {
	var b strings.Builder
	for line := range strings.Lines(request) {
		if name, _, ok := strings.Cut(line, ":"); !ok || name != "Accept" && name != "Accept-Encoding" && name != "User-Agent" && name != "Host" && name != "Content-Length" {
			if strings.TrimSpace(line) != "" {
				b.WriteString("  " + strings.TrimRight(line, "\r\n") + "\n")
			}
		}
	}
	return b.String()
}
