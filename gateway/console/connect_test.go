package console

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"drawbridge/config"
)

// TestConnectGuides holds the snippets against docs/start: each is a block of the page of its client, or a program that such a
// block goes on from, and each client of the guides' table has a section.
func TestConnectGuides(t *testing.T) {
	guides := filepath.Join("..", "..", "docs", "start")
	clients := guideClients()
	for _, c := range clients {
		page, err := os.ReadFile(filepath.Join(guides, c.Guide+".md"))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Snippets)+len(c.Steps) == 0 {
			t.Errorf("%s has no snippet", c.Name)
		}
		blocks := codeBlocks(string(page))
		for _, s := range c.Snippets {
			if !slices.ContainsFunc(blocks, func(block string) bool { return block == s.Text || isBeginning(block, s.Text) }) {
				t.Errorf("docs/start/%s.md has no such block:\n%s", c.Guide, s.Text)
			}
		}
	}
	index, err := os.ReadFile(filepath.Join(guides, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(index), "## 6. Connect a client")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, link := range regexp.MustCompile(`\]\((\w[\w-]*)\.md\) \|`).FindAllStringSubmatch(table, -1) {
		if !slices.ContainsFunc(clients, func(c connectClient) bool { return c.Guide == link[1] }) {
			t.Errorf("the client of docs/start/%s.md has no section on the page Connect", link[1])
		}
	}
}

// codeBlocks returns the fenced blocks of a page.
func codeBlocks(page string) (blocks []string) {
	for _, m := range regexp.MustCompile("(?ms)^```[^\n]*\n(.*?)\n```$").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// isBeginning reports whether a program is a block without its call of a tool: all its lines are in the block, in that order.
func isBeginning(block, program string) bool {
	if !strings.Contains(program, "import ") {
		return false
	}
	rest := strings.Split(block, "\n")
	for line := range strings.SplitSeq(program, "\n") {
		at := slices.Index(rest, line)
		if at < 0 {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}

// TestConnectURLs holds that the snippets have the gateway's own URL, for each endpoint.
func TestConnectURLs(t *testing.T) {
	for _, test := range []struct {
		name, server, endpoint, url, entry string
		loopback, unknown                  bool
	}{
		{"loopback", "{listen: '127.0.0.1:9999'}", "", "http://127.0.0.1:9999/mcp", "drawbridge", true, false},
		{"public", "{public_url: 'https://mcp.example.com/tools'}", "", "https://mcp.example.com/tools/mcp", "drawbridge", false, false},
		{"endpoint", "{public_url: 'https://mcp.example.com'}", "reading", "https://mcp.example.com/mcp/reading", "reading", false, false},
		{"all interfaces", "{listen: '0.0.0.0:8080', allowed_hosts: [a.example]}", "", "https://HOST/mcp", "drawbridge", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "drawbridge.yaml")
			text := "auth: {anonymous: true}\nserver: " + test.server + "\napis: [{name: a, spec: 'https://example.com/openapi.json'}]\nendpoints: [{name: reading, match: [{api: a}]}]\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, problems := config.Load(file, os.Getenv)
			if c == nil {
				t.Fatal(problems)
			}
			data, ok := newConnectData(c, test.endpoint)
			if !ok || data.Chosen.URL != test.url || data.Loopback != test.loopback || data.Unknown != test.unknown || len(data.Endpoints) != 2 {
				t.Fatalf("%+v", data.Chosen)
			}
			for _, client := range data.Clients {
				for _, s := range client.Snippets {
					if strings.Contains(s.Text, guideURL) && test.url != guideURL || strings.Contains(s.Text, `"orders"`) {
						t.Errorf("%s still has the values of the guide:\n%s", client.Name, s.Text)
					}
				}
			}
			first := data.Clients[0].Snippets[0].Text
			if want := "claude mcp add --transport http " + test.entry + " " + test.url; first != want {
				t.Errorf("%q, want %q", first, want)
			}
		})
	}
	if _, ok := newConnectData(&config.Config{}, "nobody"); ok {
		t.Error("there is an endpoint of an unknown name")
	}
}

func TestConnectPage(t *testing.T) {
	b := signedIn(t, newTestConsole(t, nil), viewToken)
	w := b.get("/console/connect")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "claude mcp add --transport http drawbridge http://127.0.0.1:8080/mcp") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := b.get("/console/connect?endpoint=nobody"); w.Code != 404 {
		t.Errorf("an unknown endpoint: %d", w.Code)
	}
	if w := b.get("/console/connect/vscode"); w.Code != 200 || !strings.Contains(w.Body.String(), "The gateway runs at `http://127.0.0.1:8080/mcp`") {
		t.Errorf("a guide: %d %s", w.Code, w.Body)
	}
	for _, unknown := range []string{"none", "doc.go", "..%2f..%2fdocs%2fconsole", "vscode?endpoint=nobody"} {
		if w := b.get("/console/connect/" + unknown); w.Code != 404 {
			t.Errorf("the guide %s: %d", unknown, w.Code)
		}
	}
}

// TestInstallURLs: a link of an editor has the endpoint and its name, whatever characters they have, and no other URL opens an application.
func TestInstallURLs(t *testing.T) {
	const endpoint, entry = "https://mcp.example.com/mcp/a?b&c=\"d\"", "a b&c"
	query, ok := strings.CutPrefix(installURL("vscode", endpoint, entry), "vscode:mcp/install?")
	text, err := url.PathUnescape(query)
	var server struct{ Name, Type, URL string }
	if !ok || err != nil || json.Unmarshal([]byte(text), &server) != nil || server.Name != entry || server.Type != "http" || server.URL != endpoint {
		t.Errorf("VS Code: %q %+v", query, server)
	}
	u, err := url.Parse(installURL("cursor", endpoint, entry))
	if err != nil || u.Scheme != "cursor" || u.Host != "anysphere.cursor-deeplink" || u.Path != "/mcp/install" || u.Query().Get("name") != entry {
		t.Fatalf("Cursor: %v %v", u, err)
	}
	text64, err := base64.StdEncoding.DecodeString(u.Query().Get("config"))
	if err != nil || string(text64) != `{"url":"https://mcp.example.com/mcp/a?b\u0026c=\"d\""}` {
		t.Errorf("Cursor: %s %v", text64, err)
	}
	for _, other := range []string{"javascript:alert(1)", "vscode://evil/run", "cursor://evil", "file:///etc/passwd"} {
		if got := appURL(other); got != templ.FailedSanitizationURL {
			t.Errorf("%s is written as %s", other, got)
		}
	}
}
