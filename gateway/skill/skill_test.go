package skill_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// writeSkills writes skills, and returns their folder.
func writeSkills(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func skillFile(name string) string {
	return "---\nname: " + name + "\ndescription: How to use " + name + " & more.\n---\n# " + name + "\n"
}

// result sends a request and returns the result, or the error.
func result(t *testing.T, g *gateway.Gateway, revision, method, name, params string) (of struct {
	Skills, Resources []json.RawMessage
	Skill             json.RawMessage
	NextCursor        string
	TTLMs             *int   `json:"ttlMs"`
	CacheScope        string `json:"cacheScope"`
	Contents          []struct {
		URI, MIMEType, Text string
		Blob                []byte
	}
	Capabilities struct {
		Extensions map[string]json.RawMessage
		Resources  *struct{}
	}
}, code int) {
	t.Helper()
	_, body := gatewaytest.Ask(t, g.Handler(), revision, method, name, params)
	var answer struct {
		Result json.RawMessage
		Error  struct{ Code int }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s: %s", method, body)
	}
	if answer.Result != nil {
		if err := json.Unmarshal(answer.Result, &of); err != nil {
			t.Fatalf("%s: %s: %v", method, body, err)
		}
	}
	return of, answer.Error.Code
}

// entry is an entry of skills/list.
type entry struct {
	URI         string
	Frontmatter map[string]any
	Resources   []struct {
		URI, Digest string
		Size        int
	}
}

// TestSkills: each file reads with the digest and the size of its entry, whatever its bytes are, in each revision.
func TestSkills(t *testing.T) {
	dir := writeSkills(t, map[string]string{
		"refunds/SKILL.md": "\ufeff" + strings.ReplaceAll(skillFile("refunds"), "\n", "\r\n"), "refunds/empty": "", "refunds/a b/é?.json": "{}\n", "refunds/control.txt": "a\x00\x1b\u2028",
		"refunds/latin.txt": "caf\xe9", "refunds/logo.png": "\x89PNG\r\n\x1a\n\x00\xff", "team/on-call/SKILL.md": skillFile("on-call"),
	})
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nserver: {page_size: 1}\nskills: ["+dir+"]\n", "http://127.0.0.1:1")
	const modern = "2026-07-28"
	if found, _ := result(t, g, modern, "server/discover", "", ""); string(found.Capabilities.Extensions["io.modelcontextprotocol/skills"]) != "{}" || found.Capabilities.Resources == nil {
		t.Errorf("the capabilities are %+v", found.Capabilities)
	}
	var entries []entry
	for cursor := ""; ; {
		page, _ := result(t, g, modern, "skills/list", "", cursor)
		if len(page.Skills) != 1 || page.TTLMs == nil || page.CacheScope != "private" {
			t.Fatalf("a page has %d skills, ttlMs %v", len(page.Skills), page.TTLMs)
		}
		var e entry
		if err := json.Unmarshal(page.Skills[0], &e); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
		got, code := result(t, g, modern, "skills/get", "", fmt.Sprintf(`"uri":%q`, e.URI))
		if code != 0 || string(got.Skill) != string(page.Skills[0]) || got.TTLMs == nil {
			t.Errorf("skills/get of %s: %d, %s", e.URI, code, got.Skill)
		}
		if page.NextCursor == "" {
			break
		}
		cursor = fmt.Sprintf(`"cursor":%q`, page.NextCursor)
	}
	if len(entries) != 2 || entries[0].URI != "skill://refunds/SKILL.md" || entries[1].URI != "skill://team/on-call/SKILL.md" || entries[0].Frontmatter["description"] != "How to use refunds & more." {
		t.Fatalf("the entries are %+v", entries)
	}
	types := map[string]string{
		"skill://refunds/SKILL.md": "text/markdown", "skill://refunds/empty": "text/plain", "skill://refunds/a%20b/%C3%A9%3F.json": "application/json",
		"skill://refunds/latin.txt": "", "skill://refunds/control.txt": "", "skill://refunds/logo.png": "image/png", "skill://team/on-call/SKILL.md": "text/markdown",
	}
	for _, revision := range []string{modern, "2025-06-18", "2024-11-05"} {
		for _, e := range entries {
			for _, r := range e.Resources {
				read, code := result(t, g, revision, "resources/read", r.URI, fmt.Sprintf(`"uri":%q`, r.URI))
				if code != 0 || len(read.Contents) != 1 {
					t.Errorf("%s: %d, %+v", r.URI, code, read)
					continue
				}
				c := read.Contents[0]
				data := append([]byte(c.Text), c.Blob...)
				sum := sha256.Sum256(data)
				want, known := types[r.URI]
				if "sha256:"+hex.EncodeToString(sum[:]) != r.Digest || len(data) != r.Size || c.URI != r.URI || !known || want != "" && c.MIMEType != want || c.MIMEType == "" {
					t.Errorf("%s in %s: %q of type %s", r.URI, revision, data, c.MIMEType)
				}
			}
		}
		listed, _ := result(t, g, revision, "resources/list", "", "")
		if len(listed.Resources) != 1 || string(listed.Resources[0]) != `{"uri":"skill://refunds/SKILL.md","name":"refunds","description":"How to use refunds & more.","mimeType":"text/markdown","size":80}` {
			t.Errorf("resources/list in %s: %s", revision, listed.Resources)
		}
	}
	for _, tt := range []struct {
		revision, method, uri string
		want                  int
	}{
		{modern, "skills/get", "skill://none/SKILL.md", -32602},
		{modern, "skills/get", "skill://refunds", -32602},
		{modern, "skills/get", "skill://refunds/empty", -32602},
		{modern, "resources/read", "skill://refunds", -32602},
		{modern, "resources/read", "skill://refunds/../team/on-call/SKILL.md", -32602},
		{modern, "resources/read", "skill://refunds/%53KILL.md", -32602},
		{"2025-06-18", "resources/read", "skill://refunds/none", -32002},
		{"2025-06-18", "resources/subscribe", "skill://refunds/SKILL.md", -32602},
		{"2025-06-18", "skills/get", "skill://refunds/SKILL.md", -32601},
		{"2025-06-18", "skills/list", "skill://refunds/SKILL.md", -32601},
	} {
		if _, code := result(t, g, tt.revision, tt.method, tt.uri, fmt.Sprintf(`"uri":%q`, tt.uri)); code != tt.want {
			t.Errorf("%s %s in %s: %d, want %d", tt.method, tt.uri, tt.revision, code, tt.want)
		}
	}
}

// TestSkillsOfCallers: a skill has the scopes and the endpoints of its entry, in lists as in reads.
func TestSkillsOfCallers(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	dir := writeSkills(t, map[string]string{"open/SKILL.md": skillFile("open"), "closed/SKILL.md": skillFile("closed")})
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "  default_scopes", "  hide_unauthorized: true\n  default_scopes", 1) +
		"endpoints: [{name: part, match: {api: shop}}]\nskills: [{folder: " + dir + "/open}, {folder: " + dir + "/closed, scopes: [\"orders:admin\"], endpoints: [part]}]\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), cfg, service.URL)
	for _, tt := range []struct{ scope, path, want string }{
		{"mcp:tools", "/mcp", "open"}, {"orders:all", "/mcp", "open closed"}, {"profile", "/mcp", ""}, {"orders:all", "/mcp/part", "closed"}, {"mcp:tools", "/mcp/part", ""},
	} {
		for _, method := range []string{"skills/list", "resources/list", "skills/get", "resources/read"} {
			var seen []string
			for _, name := range []string{"open", "closed"} {
				uri := "skill://" + name + "/SKILL.md"
				header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Mcp-Name": {uri}}
				audience := gatewaytest.ResourceURL + strings.TrimPrefix(tt.path, "/mcp")
				header.Set("Authorization", "Bearer "+i.Token(t, map[string]any{"scope": tt.scope, "aud": audience}))
				w := gatewaytest.PostTo(g.Handler(), tt.path, header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"uri":%q,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, method, uri))
				if strings.Contains(w.Body.String(), `"uri":"`+uri) && strings.Contains(w.Body.String(), `"result"`) {
					seen = append(seen, name)
				}
			}
			if got := strings.Join(seen, " "); got != tt.want {
				t.Errorf("%s at %s with %s: %q, want %q", method, tt.path, tt.scope, got, tt.want)
			}
		}
	}
}

// TestToolsOfSkills: names of tools that don't exist are told to the operator, and those of hosts are not.
func TestToolsOfSkills(t *testing.T) {
	const head, rest = "---\ndescription: d\nname: ", "\n---\n\nUse `list_orders`, `search_tools` and `some_variable`.\nThen `list_oders` and `list_oders`.\n"
	dir := writeSkills(t, map[string]string{
		"good/SKILL.md": head + "good\nallowed-tools: Read list_orders\n---\n", "mcp/SKILL.md": head + "mcp\nallowed-tools: mcp__shop__list_orders\n---\n",
		"none/SKILL.md": head + "none\nallowed-tools: Bash(git:*) Read" + rest, "near/SKILL.md": head + "near\nallowed-tools: list_orders list_ordrs\n---\n",
	})
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list_orders"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nskills: ["+dir+"]\n", "http://127.0.0.1:1")
	const want = `near/SKILL.md:4:16: allowed-tools: warning: there is no tool "list_ordrs"; did you mean "list_orders"?
none/SKILL.md:4:16: allowed-tools: warning: matches no tool of this gateway
none/SKILL.md:8:7: warning: the text names the tool "list_oders", which does not exist; did you mean "list_orders"?`
	if got := strings.ReplaceAll(g.SelectorProblems().String(), dir+"/", ""); got != want {
		t.Errorf("the problems are\n%s", got)
	}
}
