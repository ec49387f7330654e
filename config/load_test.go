package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// load loads a configuration that has no problems but warnings.
func load(t *testing.T, text string) *Config {
	t.Helper()
	cfg, problems := loadText(t, text)
	if cfg == nil {
		t.Fatal(problems)
	}
	return cfg
}

func loadText(t testing.TB, text string) (*Config, Problems) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path, nil)
}

func TestDerivedValues(t *testing.T) {
	const apis = "\napis: [{spec: a.json}]\n"
	for _, tt := range []struct {
		text           string
		resource       string
		hosts, origins []string
	}{
		{"server: {listen: '127.0.0.1:8080'}",
			"http://127.0.0.1:8080/mcp", []string{"localhost", "127.0.0.1", "[::1]"}, nil},
		{"server: {listen: '127.0.0.2:80', public_url: 'https://MCP.example.com:443/a/'}\nauth: {anonymous: true}",
			"https://MCP.example.com:443/a/mcp", []string{"MCP.example.com:443", "localhost", "127.0.0.1", "[::1]", "127.0.0.2"},
			[]string{"https://mcp.example.com"}},
		{"server: {listen: '10.0.0.5:80', allowed_hosts: [Tools.internal], allowed_origins: ['http://App:80']}\nauth: {anonymous: true}",
			"", []string{"10.0.0.5", "tools.internal"}, []string{"http://app"}},
		{"server: {listen: ':80', allowed_hosts: ['a:1', b]}\nauth: {anonymous: true}", "", []string{"a:1", "b"}, nil},
		{"server: {listen: 'localhost:0'}", "", []string{"localhost", "127.0.0.1", "[::1]"}, nil},
	} {
		cfg := load(t, tt.text+apis)
		if got := cfg.Resource(); got != tt.resource {
			t.Errorf("%s: resource %q, want %q", tt.text, got, tt.resource)
		}
		if got := cfg.Hosts(); !reflect.DeepEqual(got, tt.hosts) {
			t.Errorf("%s: hosts %q, want %q", tt.text, got, tt.hosts)
		}
		if got := cfg.Origins(); !reflect.DeepEqual(got, tt.origins) {
			t.Errorf("%s: origins %q, want %q", tt.text, got, tt.origins)
		}
	}
}

// TestFiles holds that all files whose change is a reason to load again are named, once each.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	certificate, err := os.ReadFile("testdata/certificate.pem")
	if err != nil {
		t.Fatal(err)
	}
	path, secret, ca := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "sub", "secret"), filepath.Join(dir, "ca.pem")
	key, client, issuers, identity := filepath.Join(dir, "key.pem"), filepath.Join(dir, "client.pem"), filepath.Join(dir, "issuers.pem"), filepath.Join(dir, "identity.pem")
	for _, file := range []string{key, client, issuers, identity} {
		writeFile(t, file, append(bytes.Clone(certificate), "-----BEGIN PRIVATE KEY-----\n"...))
	}
	writeFile(t, secret, []byte("token\n"))
	writeFile(t, ca, certificate)
	writeFile(t, path, []byte(`
apis:
  - {spec: a.json, base_url: https://a.example, name: a, ca_file: ca.pem, credential: {type: bearer, token: "${file:sub/secret}"}}
  - {spec: b.json, base_url: https://b.example, name: b, ca_file: ca.pem, credential: {type: bearer, token: "${file:./sub/secret}"}}
  - spec: c.json
    base_url: https://c.example
    client_certificate: {cert_file: client.pem, key_file: client.pem}
    credentials: {user: {type: client_credentials, token_url: https://idp.example, client_id: gw, client_auth: private_key_jwt, key_file: key.pem, ca_file: issuers.pem}}
identity: {key_files: [identity.pem]}
`))
	cfg, problems := Load(path, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got, want := cfg.Files(), []string{path, ca, secret, key, client, issuers, identity}; !sameSet(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if got := cfg.APIs[0].Credential.Token.Reveal(); got != "token" {
		t.Errorf("token %q", got)
	}
	if got, want := cfg.APIs[0].Spec.String(), filepath.Join(dir, "a.json"); got != want {
		t.Errorf("spec %q, want %q", got, want)
	}
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestBounds loads files that are meant to cost much. Each must end with few problems and soon.
func TestBounds(t *testing.T) {
	nested := "a: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		nested += fmt.Sprintf("a%d: &a%d [*a%d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d]\n", i+1, i+1, i)
	}
	selectors := "apis: [{spec: a, tools: {include: &i [" + strings.Repeat("{tag: a},", 400) + "]}}"
	for i := range 400 {
		selectors += fmt.Sprintf(",{spec: a%d, tools: {include: *i}}", i)
	}
	for name, tt := range map[string]struct{ text, last string }{
		"aliases of aliases": {nested + "apis: *a9", "apis[8]: expected a mapping, got a list"},
		"aliases of lists":   {selectors + "]", "c.yaml:1:1: has more than 50000 values"},
		"itself":             {"apis: &a [*a]", "apis[0]: expected a mapping, got a list"},
		"size":               {"# " + strings.Repeat("x", 1<<20), "c.yaml: is larger than 1 MiB and not an OpenAPI document"},
		"block depth":        {strings.Repeat("- ", 100_000), "nested more than 64 levels deep"},
		"flow depth":         {strings.Repeat("{a: ", 100_000), "nested more than 64 levels deep"},
		"problems":           {"apis: [{spec: a}]\n" + unknownKeys(20_000), "c.yaml: and 19900 more errors"},
		"one problem many times": {"apis: [" + strings.Repeat("1,", 200_000) + "]",
			"c.yaml:1:7: apis: has more than 10000 items"},
		"long line":      {"apis: [{spec: '" + strings.Repeat("x", 1<<19) + "', " + strings.Repeat("y", 1<<18) + ": 1}]", "yyyy…: unknown key"},
		"long reference": {"apis: [{spec: '${" + strings.Repeat("x ", 1<<18) + "}'}]", "apis[0].spec: ${x x "},
		"lines":          {"\"a\\nb\": 1\napis: [{spec: \"${a\\nb}\"}]", "c.yaml:2:15: apis[0].spec: ${a b}: expected a variable name"},
		"NUL":            {"apis: [{spec: a\x00}]", "is not valid YAML"},
		"UTF-16":         {"\xff\xfea\x00:\x00 \x00b\x00", "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := loadText(t, tt.text)
			if len(problems) == 0 || len(problems) > 2*maxProblems+2 {
				t.Fatalf("%d problems", len(problems))
			}
			if !strings.Contains(problems.String(), tt.last) {
				t.Errorf("got %.500s\nwant %s among them", problems, tt.last)
			}
		})
	}
}

func unknownKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "lsten%d: 1\n", i)
	}
	return b.String()
}

// TestFilesOfBadKinds names files that would never end, or are no files at all.
func TestFilesOfBadKinds(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big")
	writeFile(t, big, bytes.Repeat([]byte("x"), maxRegular+1))
	for path, want := range map[string]string{
		"/dev/zero": "is not a regular file", os.TempDir(): "is not a regular file", big: "is larger than 1 MiB",
	} {
		_, problems := loadText(t, fmt.Sprintf("apis: [{spec: a, ca_file: %q, name: \"${file:%s}\"}]", path, path))
		var got []string
		for _, p := range problems {
			got = append(got, p.Key+": "+p.Message)
		}
		if want := []string{
			fmt.Sprintf("apis[0].ca_file: %q can't be read: %s", path, want),
			fmt.Sprintf("apis[0].name: ${file:%s}: %s", path, want),
		}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzLoad looks for files that make Load panic, hang or break its promise: a configuration or an error, and never both.
func FuzzLoad(f *testing.F) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range cases {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, text, _ := strings.Cut(string(data), "-- drawbridge.yaml --\n")
		text, _, _ = strings.Cut(text, "\n-- ")
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const canary = "c4n4ry-of-the-environment"
		l := &loader{file: "c.yaml", dir: "testdata/nowhere", getenv: func(string) string { return canary }, rootType: reflect.TypeFor[Config]()}
		var cfg Config
		if root := l.parse([]byte(text)); root != nil {
			l.root(root, &cfg)
		}
		got, problems := l.finish(&cfg)
		if (got == nil) != (problems.Err() != nil) {
			t.Fatalf("config %v and problems %v", got, problems)
		}
		if strings.Contains(problems.String(), canary) {
			t.Fatalf("a problem shows the value of a variable: %s", problems)
		}
		if got == nil {
			return
		}
		got.Hosts()
		got.Origins()
		got.Resource()
		got.Settings(Subject{API: "a", Method: "GET", Path: "/a", Operation: "a", Tags: []string{"a"}}, Settings{})
		for i := range got.APIs {
			got.APIs[i].Exposes(Subject{API: "a", Method: "GET", Path: "/a"})
			if got.APIs[i].Spec == "" || got.APIs[i].MaxAnswer == 0 {
				t.Fatalf("half an API: %+v", got.APIs[i])
			}
		}
		if !got.Server.Listen.Loopback() && got.Auth == nil {
			t.Fatalf("open to all: %s", got.Server.Listen)
		}
	})
}

// TestKeyOf holds that an entry is found in the file, also when a directory before it has become several.
func TestKeyOf(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"specs/a.yaml", "specs/b.yaml"} {
		writeFile(t, filepath.Join(dir, name), []byte("openapi: 3.1.0\n"))
	}
	path := filepath.Join(dir, "c.yaml")
	writeFile(t, path, []byte("apis:\n  - {spec: specs}\n  - {spec: https://c.example/c.json}\n"))
	cfg, problems := Load(path, nil)
	if cfg == nil {
		t.Fatal(problems)
	}
	for i, want := range []string{"apis[0]", "apis[0]", "apis[1]"} {
		if got := cfg.KeyOf(i); got != want {
			t.Errorf("%s is %s, want %s", cfg.APIs[i].Spec, got, want)
		}
	}
	if got, want := cfg.Wrong(cfg.KeyOf(2)+".credential.key_file", errors.New("is odd")).Error(), path+":3:5: apis[1].credential.key_file: is odd"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
