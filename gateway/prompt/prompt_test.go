package prompt_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/test/update"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/openapi/text"
	"drawbridge/test/cases"
	"drawbridge/test/gatewaytest"
)

// TestPrompts runs the cases in testdata/prompts. A case is an archive whose comment says why it exists:
//
//	config.yaml  the configuration: $BASE is the service, and the document is api.yaml
//	ask          requests, one a line: revision, method and params
//	got          their answers, one a line: the status if it is not 200, and the result or error
//	log          what check says of prompts
//
// Other files lie beside the configuration. The service answers with the file that has the name of the path below files/, as
// text or, if it ends so, as a picture; with the query, if the path is /echo; else 404.
func TestPrompts(t *testing.T) {
	cases.Run(t, "testdata/prompts/*.txtar", runPromptCase)
}

func runPromptCase(t *testing.T, path string, archive *txtar.Archive) {
	dir := t.TempDir()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/echo" {
			_, _ = fmt.Fprintf(w, "%s %s", r.Method, r.URL.RawQuery)
			return
		}
		text, err := os.ReadFile(filepath.Join(dir, "files", filepath.FromSlash(filepath.Clean(r.URL.Path))))
		if err != nil {
			http.Error(w, "no such thing", http.StatusNotFound)
			return
		}
		media := map[string]string{".png": "image/png", ".wav": "audio/wav", ".pdf": "application/pdf", ".json": "application/json"}[filepath.Ext(r.URL.Path)]
		if media == "" {
			media = "text/plain"
		}
		w.Header().Set("Content-Type", media)
		_, _ = w.Write([]byte(strings.TrimSuffix(string(text), "\n")))
	}))
	defer service.Close()
	want := map[string]string{}
	var asked string
	var kept []txtar.File
	for _, f := range archive.Files {
		switch f.Name {
		case "got", "log":
			want[f.Name] = string(f.Data)
			continue
		case "ask":
			asked = string(f.Data)
		}
		kept = append(kept, f)
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(f.Data), "$BASE", service.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := config.Load(filepath.Join(dir, "config.yaml"), func(string) string { return "" })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: c, Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, problem := range g.PromptProblems() {
		got["log"] += strings.ReplaceAll(problem, dir+string(filepath.Separator), "") + "\n"
	}
	for line := range strings.Lines(asked) {
		revision, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		method, params, _ := strings.Cut(rest, " ")
		var named struct{ Name string }
		if err := json.Unmarshal([]byte(params), &named); err != nil {
			t.Fatalf("%s: %v", params, err)
		}
		status, body := gatewaytest.Ask(t, g.Handler(), revision, method, named.Name, strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}"))
		var answer struct{ Result, Error json.RawMessage }
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		text := string(answer.Result) + string(answer.Error)
		text = strings.Replace(text, `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"drawbridge","title":"Drawbridge","version":"1.0.0"}},`, "", 1)
		if status != http.StatusOK {
			text = fmt.Sprint(status, " ", text)
		}
		got["got"] += strings.ReplaceAll(text, service.URL, "$BASE") + "\n"
	}
	if *update.Expected {
		for _, name := range []string{"got", "log"} {
			if text, ok := got[name]; ok {
				kept = append(kept, txtar.File{Name: name, Data: []byte(text)})
			}
		}
		archive.Files = kept
		cases.Write(t, path, archive)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// promptNames returns the names of a prompts/list answer.
func promptNames(t *testing.T, body []byte) []string {
	t.Helper()
	var answer struct {
		Result struct{ Prompts []struct{ Name string } }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	names := []string{}
	for _, p := range answer.Result.Prompts {
		names = append(names, p.Name)
	}
	return names
}

const protectedPrompts = `prompts:
  - {name: plain, messages: [{text: hello}]}
  - {name: special, scopes: [special], messages: [{text: hello}]}
  - {name: calling, messages: [{tool: list}, {tool: purge, unsafe: true}]}
`

// TestPromptScopes: who may not call a tool can't have it called by a prompt, and is told of all scopes at once; where tools
// are hidden, the prompt is too.
func TestPromptScopes(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	for _, hide := range []bool{false, true} {
		cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + protectedPrompts
		if hide {
			cfg = strings.Replace(cfg, "default_scopes", "hide_unauthorized: true\n  default_scopes", 1)
		}
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), cfg, service.URL)
		for _, revision := range gatewaytest.Eras {
			for scope, want := range map[string][]string{
				"mcp:tools":         {"plain"},
				"special":           {"special"},
				"orders:all":        {"plain", "calling"},
				"mcp:tools special": {"plain", "special"},
				"profile":           {},
			} {
				c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"scope": scope}))
				listed := want
				if !hide {
					listed = []string{"plain", "special", "calling"}
				}
				if got := promptNames(t, c.Send("prompts/list", "", "").Body.Bytes()); !slices.Equal(got, listed) {
					t.Errorf("%s, %s: prompts %q, want %q", revision, scope, got, listed)
				}
				unknown := strings.ReplaceAll(c.Send("prompts/get", "nothing", "{}").Body.String(), `"nothing\"`, "NAME")
				for _, name := range []string{"plain", "special", "calling"} {
					service.Taken()
					w := c.Send("prompts/get", name, "{}")
					switch body := w.Body.String(); {
					case slices.Contains(want, name):
						if w.Code != 200 || !strings.Contains(body, `"messages":[`) {
							t.Errorf("%s, %s: %s = %d %s", revision, scope, name, w.Code, body)
						}
					case len(service.Taken()) > 0:
						t.Errorf("%s, %s: %s called a tool", revision, scope, name)
					case hide:
						if got := strings.ReplaceAll(body, `"`+name+`\"`, "NAME"); got != unknown {
							t.Errorf("a hidden prompt answers\n%s\nan unknown one\n%s", got, unknown)
						}
					case w.Code != 403:
						t.Errorf("%s, %s: %s = %d %s", revision, scope, name, w.Code, body)
					}
				}
			}
		}
	}
}

// TestPromptChallenge: the challenge names all that a prompt and its tools need.
func TestPromptChallenge(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + "prompts: [{name: both, scopes: [special], messages: [{tool: purge, unsafe: true}]}]\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "purge"), cfg, service.URL)
	w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"scope": "profile"})).Send("prompts/get", "both", "{}")
	if got := w.Header().Get("WWW-Authenticate"); w.Code != 403 || !strings.Contains(got, `scope="profile special orders:admin"`) {
		t.Errorf("challenge = %d %s", w.Code, got)
	}
}

// TestPromptsChange: a file of a prompt that changes, comes or goes is noticed, and clients are told of it where they can have
// the prompt.
func TestPromptsChange(t *testing.T) {
	files := map[string]string{
		"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\nendpoints: [{name: a}]\nprompts: [{file: one.md}, {file: prompts, endpoints: [a]}]\n",
		"a.yaml":          gatewaytest.Document("A", "list"), "one.md": "One.\n", "prompts/two.md": "Two.\n",
	}
	r := gatewaytest.Run(t, files)
	r.Served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	defer func() {
		if err := r.EndStreams(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	names := func(path string) []string {
		w := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080"+path, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"prompts/list"}}
		r.Handler().ServeHTTP(w, req)
		return promptNames(t, w.Body.Bytes())
	}
	expect := func(path string, want ...string) {
		t.Helper()
		r.Eventually(fmt.Sprint(path, " has ", want), func() bool { return slices.Equal(names(path), want) })
	}
	expect("/mcp", "one", "two")
	expect("/mcp/a", "two")
	const changed = "notifications/prompts/list_changed"
	var streams []*gatewaytest.Listening
	for _, revision := range gatewaytest.Eras {
		streams = append(streams, gatewaytest.Listen(t, server, "/mcp/a", revision, ""))
	}
	r.Write(map[string]string{"one.md": "---\nname: uno\n---\nOne.\n"})
	expect("/mcp", "uno", "two")
	r.Write(map[string]string{"prompts/three.md": "Three.\n"})
	expect("/mcp", "uno", "three", "two")
	for _, l := range streams {
		l.Want(changed) // once: the first change was none here
	}
	if err := os.Remove(filepath.Join(r.Dir, "prompts/two.md")); err != nil {
		t.Fatal(err)
	}
	expect("/mcp/a", "three")
	for _, l := range streams {
		l.Want(changed)
	}
	r.Write(map[string]string{"prompts/three.md": "{{three\n"})
	r.Eventually("a broken prompt is told of", func() bool { return strings.Contains(r.Status().Config.Error, "three.md:1:1: messages[0].text: ") })
	expect("/mcp", "uno", "three")
	r.Write(map[string]string{"prompts/three.md": "Three!\n", "prompts/four.md": "{{four\n"})
	r.Eventually("a new prompt that is broken is told of", func() bool { return strings.Contains(r.Status().Config.Error, "four.md:1:1: ") })
	r.Write(map[string]string{"prompts/four.md": "Four.\n"})
	expect("/mcp", "uno", "four", "three")
}

// TestPromptResourceScopes: a prompt reads no resource for who may not read it, whatever URI its caller gives; where tools are hidden there is none.
func TestPromptResourceScopes(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	for _, hide := range []bool{false, true} {
		cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + `  - {match: {operation: purge}, set: {resource: {uri: "shop://purge"}}}
  - {match: {operation: list}, set: {resource: {uri: "shop://list"}}}
prompts: [{name: any, arguments: [{name: uri, required: true}], messages: [{tool: list}, {resource: "{{uri}}"}]}, {name: fixed, messages: [{resource: "shop://purge"}]}]
`
		if hide {
			cfg = strings.Replace(cfg, "default_scopes", "hide_unauthorized: true\n  default_scopes", 1)
		}
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), cfg, service.URL)
		for _, revision := range gatewaytest.Eras {
			get := func(scope, name, uri string) (int, string, int) {
				c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"scope": scope}))
				service.Taken()
				w := c.Send("prompts/get", name, uri)
				return w.Code, w.Body.String(), len(service.Taken())
			}
			if code, body, calls := get("orders:all", "any", `{"uri":"shop://purge"}`); code != 200 || calls != 2 || !strings.Contains(body, `"uri":"shop://purge"`) {
				t.Errorf("%s: %d %s", revision, code, body)
			}
			code, body, calls := get("mcp:tools", "any", `{"uri":"shop://purge"}`)
			_, none, _ := get("mcp:tools", "any", `{"uri":"shop://none"}`)
			switch {
			case calls != 0:
				t.Errorf("%s: %d calls", revision, calls)
			case hide && body != strings.ReplaceAll(none, "shop://none", "shop://purge"):
				t.Errorf("%s: a hidden resource\n%s\none that is not there\n%s", revision, body, none)
			case !hide && code != 403:
				t.Errorf("%s: %d %s", revision, code, body)
			}
			if code, body, calls := get("mcp:tools", "fixed", "{}"); calls != 0 || !strings.Contains(body, "insufficient scope for this prompt") && !hide || hide && !strings.Contains(body, "unknown prompt") {
				t.Errorf("%s: %d %s", revision, code, body)
			}
		}
	}
}

// TestPromptBatch is Z3 for prompts in batches: one that the caller may not have refuses the whole, before anything is called.
func TestPromptBatch(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+`  - {match: {operation: purge}, set: {resource: {uri: "shop://purge"}}}
prompts:
  - {name: calling, messages: [{tool: list}]}
  - {name: reading, arguments: [{name: uri}], messages: [{resource: "{{uri}}"}]}
`, service.URL)
	const calling, reading = `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"calling"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"reading","arguments":{"uri":"shop://purge"}}}`
	for scope, want := range map[string][2]int{"mcp:tools": {403, 0}, "orders:all": {200, 2}} {
		c := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", i.Token(t, map[string]any{"scope": scope}))
		c.Send("tools/list", "", "")
		header := c.Header.Clone()
		header.Set("Content-Type", "application/json")
		header.Set("Accept", "application/json, text/event-stream")
		header.Set("Mcp-Session-Id", c.Session)
		service.Taken()
		w := gatewaytest.Post(g.Handler(), header, "["+calling+","+reading+"]")
		if calls := len(service.Taken()); w.Code != want[0] || calls != want[1] ||
			w.Code == 403 && !strings.Contains(w.Header().Get("WWW-Authenticate"), `scope="mcp:tools orders:admin"`) {
			t.Errorf("%s: %d, %d calls, %v: %s", scope, w.Code, calls, w.Header(), w.Body)
		}
	}
}

// TestPromptSize: however small a template is, what callers have it grow to is bounded, in calls too.
func TestPromptSize(t *testing.T) {
	many := strings.Repeat("{{a}}", 400)
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nprompts:\n"+
		"  - {name: text, arguments: [{name: a}], messages: [{text: \""+many+"\"}]}\n"+
		"  - {name: uri, arguments: [{name: a}], messages: [{resource: \"shop://"+many+"\"}]}\n", service.URL)
	params := `"name":%q,"arguments":{"a":"` + strings.Repeat("x", 3000) + `"}`
	for _, name := range []string{"text", "uri"} {
		_, body := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "prompts/get", name, fmt.Sprintf(params, name))
		if !strings.Contains(string(body), fmt.Sprintf("prompt \\\"%s\\\" would have 12000", name)) {
			t.Errorf("%s: %s", name, text.Truncate(string(body), 300))
		}
	}
}
