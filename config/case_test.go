package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "accept the results as the wanted ones")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCases loads the configuration of each case in testdata. A case is an archive whose comment says why it exists:
//
//	drawbridge.yaml  the file that is loaded, or LOCATION the location, if it is another
//	env              the environment, NAME=value a line
//	problems         all problems; absent when there are none
//	config           the loaded configuration with its defaults; only compared where it stands
//
// Other files lie beside drawbridge.yaml: 0644 when their name ends in .open, else 0600.
//
// A configuration that loads is also valid by docs/config.schema.json, which editors and the Helm chart use.
func TestCases(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, path string, archive *txtar.Archive) { runCase(t, path, archive, schema) })
}

func runCase(t *testing.T, path string, archive *txtar.Archive, schema *jsonschema.Schema) {
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	location, env, want := "drawbridge.yaml", map[string]string{}, map[string]string{}
	for _, f := range archive.Files {
		switch f.Name {
		case "LOCATION":
			location = strings.TrimSpace(string(f.Data))
		case "env":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
				env[name] = value
			}
		case "problems", "config":
			want[f.Name] = string(f.Data)
		default:
			writeFile(t, f.Name, f.Data)
		}
	}

	cfg, problems := Load(location, func(name string) string { return env[name] })

	if (cfg == nil) != (problems.Err() != nil) {
		t.Errorf("Load: config %v with problems %v", cfg, problems)
	}
	if cfg != nil {
		checkWithoutSecrets(t, location, env, cfg, problems)
		if location == "drawbridge.yaml" { // else it may be a document in place of a configuration
			checkSchema(t, schema, location)
		}
	}
	got := map[string]string{}
	if len(problems) > 0 {
		got["problems"] = problems.String() + "\n"
	}
	if _, ok := want["config"]; ok && cfg != nil {
		got["config"] = dump(t, cfg)
	}
	if *update {
		accept(t, path, archive, got)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems and config (-want +got):\n%s", diff)
	}
}

// checkSchema holds a file that can be loaded against the schema.
func checkSchema(t *testing.T, schema *jsonschema.Schema, location string) {
	t.Helper()
	text, err := os.ReadFile(location)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(asJSON(t, value)); err != nil {
		t.Errorf("the schema refuses what can be loaded: %v", err)
	}
}

// asJSON returns a value of YAML as JSON has it, without times.
func asJSON(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	mode := os.FileMode(0o600)
	if strings.HasSuffix(name, ".open") {
		mode = 0o644
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

func accept(t *testing.T, path string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	var files []txtar.File
	for _, f := range archive.Files {
		if f.Name != "problems" && f.Name != "config" {
			files = append(files, f)
		}
	}
	for _, name := range []string{"problems", "config"} {
		if text, ok := got[name]; ok {
			files = append(files, txtar.File{Name: name, Data: []byte(text)})
		}
	}
	archive.Files = files
	cases.Write(t, path, archive)
}
