package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const including = "include:\n- {files: teams/*.yaml, name_prefix: a-, env_prefix: A_, folder: granted, allow_addresses: [10.1.0.0/16]}\n"

// loadIncluding loads a configuration that includes one file of a team.
func loadIncluding(t *testing.T, dir, team string, getenv func(string) string) (*Config, Problems) {
	t.Helper()
	for name, text := range map[string]string{"drawbridge.yaml": including, "teams/a.yaml": team} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, file, []byte(text))
	}
	return Load(filepath.Join(dir, "drawbridge.yaml"), getenv)
}

// FuzzIncluded reads files of a team: none reads a variable or a file that is not granted, and each API that loads has a granted name and is
// bound to the granted addresses.
func FuzzIncluded(f *testing.F) {
	for _, seed := range []string{
		"apis:\n- {spec: https://a.internal/x.json, name: a-x, credential: {type: bearer, token: '${A_TOKEN}'}}\n",
		"apis:\n- {spec: https://a.internal/x.json, name: a-x, credential: {type: bearer, token: '${B_TOKEN:-x}'}}\n",
		"apis:\n- {spec: '${file:../secret}', name: '${B}'}\n",
		"apis:\n- {spec: secret, name: a-x, overlays: [/etc/passwd], ca_file: granted/../../secret}\n",
		"apis:\n- {spec: https://a.internal/x.json, name: a-x, proxy: environment, client_certificate: {cert_file: ../secret, key_file: ../secret}}\n",
		"rules:\n- {match: {api: '*'}, set: {title: '${B_TOKEN}$B_TOKEN'}}\n",
		"- ${HOME}\n", "include: [{files: x.yaml}]\n", "apis: &a [*a]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, team string) {
		dir := t.TempDir()
		const secret = "another-team's-secret"
		writeFile(t, filepath.Join(dir, "secret"), []byte(secret))
		if err := os.Mkdir(filepath.Join(dir, "granted"), 0o700); err != nil {
			t.Fatal(err)
		}
		cfg, problems := loadIncluding(t, dir, team, func(name string) string {
			if !strings.HasPrefix(name, "A_") {
				t.Errorf("reads the variable %q", name)
			}
			return "value-of-" + name
		})
		if strings.Contains(problems.String(), secret) {
			t.Errorf("shows another secret: %s", problems)
		}
		if cfg == nil {
			return
		}
		granted := []string{filepath.Join(dir, "drawbridge.yaml"), filepath.Join(dir, "teams"), filepath.Join(dir, "teams", "a.yaml")}
		for _, file := range cfg.Files() {
			if !slices.Contains(granted, file) && !isBelow(file, filepath.Join(dir, "granted")) {
				t.Errorf("reads %s", file)
			}
		}
		for i := range cfg.APIs {
			api := &cfg.APIs[i]
			if !strings.HasPrefix(api.Name, "a-") || len(api.GrantedAddresses()) != 1 || api.Proxy != nil || len(api.PassHeaders) > 0 {
				t.Errorf("API %+v is beyond its grants", api)
			}
		}
		for _, r := range cfg.Rules {
			if r.Match.Match(Subject{API: "payments", Method: "GET", Path: "/x"}) || r.Match.Match(Subject{API: "payments", Claimed: "a-x", Method: "GET", Path: "/x"}) {
				t.Errorf("rule %+v matches another API", r)
			}
		}
	})
}

// TestIncludedLinks follows links of a team: those that lead out of its folder, or of the directory of its file, are refused.
func TestIncludedLinks(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "secret"), []byte("another-team's-secret"))
	if err := os.Mkdir(filepath.Join(dir, "granted"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "granted", "own"), []byte("own-secret"))
	for link, target := range map[string]string{"out": "../secret", "absolute": filepath.Join(dir, "secret"), "up": "..", "in": "own"} {
		if err := os.Symlink(target, filepath.Join(dir, "granted", link)); err != nil {
			t.Fatal(err)
		}
	}
	api := func(token string) string {
		return "apis:\n- {spec: https://a.internal/x.json, name: a-x, credential: {type: bearer, token: '${file:../granted/" + token + "}'}}\n"
	}
	for token, ok := range map[string]bool{"own": true, "in": true, "out": false, "absolute": false, "up/secret": false} {
		cfg, problems := loadIncluding(t, dir, api(token), nil)
		if ok != (cfg != nil) || strings.Contains(problems.String(), "another") {
			t.Errorf("%s: %v", token, problems)
		}
		if ok && strings.Contains(cfg.APIs[0].Credential.Token.Reveal(), "another") {
			t.Errorf("%s is the secret of others", token)
		}
	}
	if cfg, problems := loadIncluding(t, dir, "apis:\n- {spec: ../granted/out, name: a-x, base_url: https://a.internal, ca_file: ../granted/absolute}\n", nil); cfg != nil || len(problems.Errors()) != 2 {
		t.Errorf("documents and certificates by links: %v", problems)
	}
	if err := os.Symlink("../secret", filepath.Join(dir, "teams", "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if cfg, problems := loadIncluding(t, dir, api("own"), nil); cfg != nil || strings.Contains(problems.String(), "another") {
		t.Errorf("an included file by a link: %v", problems)
	}
}

// TestOpener opens files of a team again after it changed them for links: none leads out of its folder.
func TestOpener(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "secret"), []byte("another-team's-secret"))
	own := filepath.Join(dir, "granted", "own")
	if err := os.Mkdir(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, own, []byte("own"))
	cfg, problems := loadIncluding(t, dir, "apis:\n- {spec: https://a.internal/x.json, name: a-x}\n", nil)
	if cfg == nil {
		t.Fatal(problems)
	}
	open := cfg.APIs[0].Opener()
	f, err := open(own)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", own); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		own:                          "open " + own + ": path escapes from parent",
		filepath.Join(dir, "secret"): "open " + filepath.Join(dir, "secret") + `: is not granted to this file: it must be in the folder "` + filepath.Join(dir, "granted") + `"`,
	} {
		if f, err := open(path); err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v; want %s", path, f, err, want)
		}
	}
	if (&API{}).Opener() != nil {
		t.Error("the main file is bound to a folder")
	}
}

// TestIncludedSchema holds docs/config.included.schema.json against files of teams.
func TestIncludedSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../docs/config.included.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		`{"apis": [{"spec": "a.json", "name": "a-x"}], "rules": [{"match": {"api": "*"}, "set": {"timeout": "1s"}}]}`: true,
		`{"server": {}}`: false, `[]`: false, `{"apis": [{"name": "a-x"}]}`: false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); ok != (err == nil) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
