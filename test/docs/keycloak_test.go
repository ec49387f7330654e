package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drawbridge/auth"
	"drawbridge/config"
)

const keycloakPage = "docs/start/keycloak.md"

// TestKeycloakPage holds the page against the files that it shows, which make keycloak-e2e runs.
func TestKeycloakPage(t *testing.T) {
	page := read(t, keycloakPage)
	shown := blocks(t, keycloakPage)
	if want := read(t, "deploy/keycloak/drawbridge.yaml"); shown[0].Text != want {
		t.Errorf("%s:%d: the YAML is not that of deploy/keycloak/drawbridge.yaml", keycloakPage, shown[0].Line)
	}
	install := read(t, "deploy/keycloak/install")
	_, version, _ := strings.Cut(install, "\nversion=")
	version, _, _ = strings.Cut(version, "\n")
	if version == "" || !strings.Contains(page, "Keycloak "+version) {
		t.Errorf("the page does not name version %q of deploy/keycloak/install", version)
	}
}

// TestKeycloakVariables: the page has its reader set each variable of the two files, and no other but the administrator's.
func TestKeycloakVariables(t *testing.T) {
	names := func(pattern string, texts ...string) (all []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
			all = append(all, m[1])
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	used := names(`\$\{(\w+)\}`, read(t, "deploy/keycloak/realm.json"), read(t, "deploy/keycloak/drawbridge.yaml"))
	set := slices.DeleteFunc(names(`(?m)^export (\w+)=`, read(t, keycloakPage)), func(name string) bool { return strings.HasPrefix(name, "KC_") })
	if !slices.Equal(used, set) {
		t.Errorf("the files use %q, the page sets %q", used, set)
	}
}

// TestKeycloakRealm compares the realm file with the configuration beside it: scopes, audience, the client of the token
// exchange. Secrets stand in variables.
func TestKeycloakRealm(t *testing.T) {
	var realm struct {
		ClientScopes []struct {
			Name            string
			ProtocolMappers []struct{ Config map[string]string }
		}
		DefaultOptionalClientScopes []string
		Clients                     []struct {
			ClientID   string
			Secret     string
			Attributes map[string]string
		}
		Users []struct{ Credentials []struct{ Value string } }
	}
	if err := json.Unmarshal([]byte(read(t, "deploy/keycloak/realm.json")), &realm); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(read(t, "deploy/keycloak/drawbridge.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(file, func(string) string { return "value-of-it" })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	scopes := slices.Clone(c.Auth.DefaultScopes)
	for _, r := range c.Rules {
		scopes = append(scopes, r.Set.Scopes...)
	}
	for _, scope := range scopes {
		found := false
		for _, s := range realm.ClientScopes {
			if s.Name != scope {
				continue
			}
			found = true
			var audiences []string
			for _, m := range s.ProtocolMappers {
				audiences = append(audiences, m.Config["included.custom.audience"], m.Config["included.client.audience"])
			}
			for _, want := range []string{"${MCP_RESOURCE}", c.APIs[0].Credential.ClientID} {
				if !slices.Contains(audiences, want) {
					t.Errorf("the scope %s has no mapper for the audience %s", scope, want)
				}
			}
		}
		if !found || !slices.Contains(realm.DefaultOptionalClientScopes, scope) {
			t.Errorf("the realm has no optional scope %s", scope)
		}
	}
	for _, client := range realm.Clients {
		if client.Secret != "" && client.Secret != "${DRAWBRIDGE_SECRET}" {
			t.Errorf("the secret of %s stands in the file", client.ClientID)
		}
		if client.ClientID == c.APIs[0].Credential.ClientID && client.Attributes["standard.token.exchange.enabled"] != "true" {
			t.Errorf("%s may not exchange tokens", client.ClientID)
		}
	}
	for _, u := range realm.Users {
		for _, credential := range u.Credentials {
			if !strings.HasPrefix(credential.Value, "${") {
				t.Error("a password stands in the file")
			}
		}
	}
}

// TestProviderPages: each preset has a page, which says whether it was run.
func TestProviderPages(t *testing.T) {
	var shown []string
	for _, page := range startPages(t) {
		for _, name := range auth.Presets() {
			if !strings.Contains(read(t, page), "preset: "+name+"\n") {
				continue
			}
			shown = append(shown, name)
			if text := read(t, page); name != "keycloak" && !strings.Contains(text, "It was not run against") {
				t.Errorf("%s does not say that it was not run", page)
			}
		}
	}
	slices.Sort(shown)
	if !slices.Equal(shown, auth.Presets()) {
		t.Errorf("pages of %q; want one for each of %q", shown, auth.Presets())
	}
}
