package prompt_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/test/gatewaytest"
)

// TestPromptQuestions runs the cases of testdata/prompt_questions, in all revisions of the protocol: a configuration, and a
// prompts/get whose client answers what it is asked, as in the cases of questions in gateway/call.
func TestPromptQuestions(t *testing.T) {
	gatewaytest.Transcripts(t, "testdata/prompt_questions/*.txtar", runPromptQuestions)
}

func runPromptQuestions(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	var all []string
	revisions := map[string][]string{}
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), gatewaytest.Section(archive, "config.yaml"), "http://127.0.0.1:1")
		if problems := g.PromptProblems(); problems != nil {
			t.Fatal(problems)
		}
		server := httptest.NewServer(g.Handler())
		c := &gatewaytest.Answering{T: t, URL: server.URL + "/mcp", Revision: revision}
		if err := json.Unmarshal([]byte(gatewaytest.Section(archive, "call")), &c.Call); err != nil {
			t.Fatalf("call: %v", err)
		}
		list := c.Send("prompts/list", "", "{}", nil).Result
		_, prompts, _ := strings.Cut(string(list), `"prompts":`)
		fmt.Fprintf(&c.Log, "listed: %s\n", strings.TrimSuffix(prompts, "}"))
		m := c.Send("prompts/get", c.Call.Name, fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.Call.Name, gatewaytest.OrEmpty(c.Call.Arguments)), nil)
		_, messages, _ := strings.Cut(string(m.Result), `"messages":`)
		fmt.Fprintf(&c.Log, "got: %s%s\n", strings.TrimSuffix(messages, "}"), m.Error)
		server.CloseClientConnections()
		server.Close()
		text := c.Log.String()
		if revisions[text] == nil {
			all = append(all, text)
		}
		revisions[text] = append(revisions[text], revision)
	}
	var b strings.Builder
	for _, text := range all {
		fmt.Fprintf(&b, "== %s ==\n%s", strings.Join(revisions[text], ", "), text)
	}
	return b.String()
}
