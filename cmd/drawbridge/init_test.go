package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"drawbridge/config"
)

// loadStarter loads a configuration that init would write.
func loadStarter(t *testing.T, text string) (*config.Config, config.Problems) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.LoadWith(file, func(string) string { return "" }, config.LoadOptions{WithoutSecrets: true})
}

func schemes() map[string]*scheme {
	return map[string]*scheme{
		"none": nil, "header": {name: "shopKey", kind: "apiKey", in: "header", key: "X-Shop-Key"}, "query": {name: "k", kind: "apiKey", in: "query", key: "api key"},
		"basic": {name: "login", kind: "http", http: "basic"}, "bearer": {name: "jwt", kind: "http", http: "bearer"}, "oauth2": {name: "oauth", kind: "oauth2"},
	}
}

// TestStarterFile: what init writes loads, for each kind of credential, with and without tokens of callers; and so it does without
// the comment signs in front of its keys.
func TestStarterFile(t *testing.T) {
	commented := regexp.MustCompile(`(?m)^( *)# ( *(?:- )?(?:[a-z_]+:(?: .*)?|\[.*))$`)
	for name, s := range schemes() {
		for _, variable := range []string{"", "API_KEY"} {
			for _, issuer := range []string{"", "https://idp.example.com/realms/acme"} {
				for _, base := range []string{"", "https://api.example.com/v1"} {
					f := starterFile{spec: "api.yaml", issuer: issuer, variable: variable,
						api: &described{name: "things", title: "Things", standard: "3.1.0", tools: 3, base: base, baseProblem: "the document names no server", scheme: s}}
					text := f.String()
					c, problems := loadStarter(t, text)
					if c == nil {
						t.Fatalf("%s, %q, %q, %q: %v\n%s", name, variable, issuer, base, problems, text)
					}
					if configured := c.APIs[0].Credential != nil; configured != (variable != "" && base != "") {
						t.Errorf("%s, %q, %q, %q: the credential is configured: %t\n%s", name, variable, issuer, base, configured, text)
					}
					all := commented.ReplaceAllString(strings.ReplaceAll(text, "\n# ${NAME}", "\n## "), "$1$2")
					if c, problems := loadStarter(t, all); c == nil {
						t.Errorf("%s, %q, %q, %q: without comment signs: %v\n%s", name, variable, issuer, base, problems, all)
					}
				}
			}
		}
	}
}

// FuzzStarterFile: whatever a document says, the file has the keys that it has for any other, and the texts are values or comments.
func FuzzStarterFile(f *testing.F) {
	f.Add("things", "api.yaml", "Things", "shopKey", "X-Key", "https://api.example.com/v1", "no server")
	f.Add("a: b", "../- x.yaml", "A\nadmin: {token: x}", "k\n\nauth: {anonymous: true}", "X: [", "https://x/${HOME}/$$", "\u2028- x")
	f.Add("null", "!!int 3", "\x00\x1b[2J", "*a", "&b", "%YAML", "#")
	f.Add("0", "\xd3", "0", "0", "0", "0", "0") // no UTF-8
	f.Fuzz(func(t *testing.T, name, spec, title, schemeName, key, base, problem string) {
		for _, variable := range []string{"", "API_KEY"} {
			text := starterFile{spec: spec, variable: variable, api: &described{name: name, title: title, standard: title, base: base, baseProblem: problem,
				scheme: &scheme{name: schemeName, kind: "apiKey", in: "header", key: key}}}.String()
			var got map[string]any
			if err := yaml.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			apis, ok := got["apis"].([]any)
			if len(got) != 4 || got["server"] == nil || got["tools"] == nil || got["admin"] == nil || !ok || len(apis) != 1 {
				t.Fatalf("other keys: %v\n%s", got, text)
			}
			api, ok := apis[0].(map[string]any)
			if !ok {
				t.Fatalf("the API is %T\n%s", apis[0], text)
			}
			for k := range api {
				switch k {
				case "name", "spec", "base_url", "credential":
				default:
					t.Errorf("the API has %q\n%s", k, text)
				}
			}
			if got, want := api["spec"], strings.ReplaceAll(strings.ToValidUTF8(spec, "\ufffd"), "$", "$$"); got != want {
				t.Errorf("spec = %q, want %q\n%s", got, want, text)
			}
		}
	})
}

// TestVariableNames: the variable that is proposed for a security scheme.
func TestVariableNames(t *testing.T) {
	for _, tt := range []struct{ name, http, want string }{
		{"shopKey", "", "SHOP_KEY"}, {"api_key", "", "API_KEY"}, {"APIKeyHeader", "", "APIKEY_HEADER"}, {"X-Api-Key", "", "X_API_KEY"},
		{"ключ", "", "API_CREDENTIAL"}, {"2fa", "", "API_CREDENTIAL"}, {"", "", "API_CREDENTIAL"}, {"login", "basic", "LOGIN_PASSWORD"},
	} {
		kind := "apiKey"
		if tt.http != "" {
			kind = "http"
		}
		if got := (&scheme{name: tt.name, kind: kind, http: tt.http}).variable(); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := userVariable("LOGIN_PASSWORD"); got != "LOGIN_USERNAME" {
		t.Errorf("the user name is in %s", got)
	}
}
