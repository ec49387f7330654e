package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

const root = "../.."

// packaged is what the tests read of nfpm's configuration.
type packaged struct {
	Name, Arch, Version, Mtime string
	Scripts                    map[string]string
	Contents                   []struct {
		Src, Dst, Type string
		Info           struct{ Mode int } `yaml:"file_info"`
	}
}

// described returns the package as .goreleaser.yaml describes it.
func described(t *testing.T) (p packaged) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := nfpmConfig(text, parameters{Program: "out/x", Arch: "arm64", Version: "1.2.3", Date: "2026-01-02T03:04:05Z"})
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(out, &p); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// TestContents holds that the package has the program, that each file of it exists, and that only the configuration is kept by upgrades.
func TestContents(t *testing.T) {
	p := described(t)
	if p.Name != "drawbridge" || p.Arch != "arm64" || p.Version != "1.2.3" || p.Mtime != "2026-01-02T03:04:05Z" {
		t.Errorf("%+v", p)
	}
	modes := map[string]int{}
	for _, c := range p.Contents {
		modes[c.Dst] = c.Info.Mode
		if strings.HasPrefix(c.Src, "out/") {
			continue // made by deploy/package/extras and go build
		}
		if _, err := os.Stat(filepath.Join(root, c.Src)); err != nil {
			t.Error(err)
		}
		if config := c.Type == "config|noreplace"; config != strings.HasPrefix(c.Dst, "/etc/drawbridge/") {
			t.Errorf("%s is of type %q", c.Dst, c.Type)
		}
	}
	for file, mode := range map[string]int{"/usr/bin/drawbridge": 0o755, "/etc/drawbridge/environment": 0o600, "/etc/drawbridge/drawbridge.yaml": 0o644} {
		if modes[file] != mode {
			t.Errorf("%s has mode %#o, want %#o", file, modes[file], mode)
		}
	}
	for when, script := range p.Scripts {
		text, err := os.ReadFile(filepath.Join(root, script))
		if err != nil || !strings.HasPrefix(string(text), "#!/bin/sh\n") || !strings.Contains(string(text), "\nset -e\n") {
			t.Errorf("%s: %v: not a script that ends at the first failure", when, err)
		}
	}
	if len(p.Scripts) != 3 {
		t.Errorf("scripts %v", p.Scripts)
	}
}

// TestSections holds that what can't be converted is said.
func TestSections(t *testing.T) {
	for text, want := range map[string]string{
		"nfpms: []":                                   "nfpms has 0 items, expected one mapping",
		"nfpms: [{}, {}]":                             "nfpms has 2 items, expected one mapping",
		"nfpms: [{package_name: a}]":                  "nfpms[0] has no contents",
		"nfpms:\n- contents: []\n  libdirs: {}":       "line 3: nfpms[0].libdirs: it is not known how nfpm names this key",
		"nfpms: [{contents: [{src: '{{ .Nope }}'}]}]": `map has no entry for key "Nope"`,
	} {
		if out, err := nfpmConfig([]byte(text), parameters{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s\n%s", text, err, want, out)
		}
	}
}
