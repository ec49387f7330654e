package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drawbridge/config"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// packagedConfig loads the packaged configuration, or text in its place.
func packagedConfig(t *testing.T, text string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "drawbridge.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "orders.openapi.yaml"), []byte(read(t, "deploy/package/orders.openapi.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{}
	for line := range strings.Lines(read(t, "deploy/package/environment")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#")), "="); ok && regexp.MustCompile(`^[A-Z_]+$`).MatchString(name) && name != "NAME" {
			secrets[name] = value
		}
	}
	c, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(name string) string { return secrets[name] })
	if c == nil || len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return c
}

// TestPackagedConfig holds that the packaged configuration loads without a warning, as it is and with each line that is a comment in it.
func TestPackagedConfig(t *testing.T) {
	text := read(t, "deploy/package/drawbridge.yaml")
	c := packagedConfig(t, text)
	if !c.Server.Listen.Loopback() || !c.Admin.Listen.Loopback() {
		t.Errorf("it listens at %s and %s before anybody has configured tokens", c.Server.Listen, c.Admin.Listen)
	}
	// A key in a comment, with what is below it, is part of the configuration when its "# " is removed.
	optional := regexp.MustCompile(`(?m)^( *)# ((?:  )*(?:public_url|auth|issuers|default_scopes|audit|credential|type|in|name|value):)`)
	if n := len(optional.FindAllString(text, -1)); n != 10 {
		t.Errorf("%d optional lines", n)
	}
	all := packagedConfig(t, optional.ReplaceAllString(text, "$1$2"))
	if all.Auth == nil || all.Audit.File.String() == "" || all.APIs[0].Credential == nil {
		t.Errorf("not all of it was used: %+v", all)
	}
	ending := time.Duration(c.Server.ShutdownDelay) + time.Duration(c.Server.DrainTimeout) + 15*time.Second
	m := regexp.MustCompile(`(?m)^TimeoutStopSec=(.*)$`).FindStringSubmatch(read(t, "deploy/package/drawbridge.service"))
	if stop, err := time.ParseDuration(m[1]); err != nil || stop < ending {
		t.Errorf("TimeoutStopSec is %s, and the gateway may take %s: %v", m[1], ending, err)
	}
}

// TestUnit holds that the unit starts what the package contains, as the user that the package makes, with directories that the configuration
// names.
func TestUnit(t *testing.T) {
	unit := map[string]string{}
	for line := range strings.Lines(read(t, "deploy/package/drawbridge.service")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			unit[key] += value
		}
	}
	var files []string
	for _, c := range described(t).Contents {
		files = append(files, c.Dst)
	}
	command := strings.Fields(unit["ExecStart"])
	for _, file := range []string{command[0], command[len(command)-1], strings.TrimPrefix(unit["EnvironmentFile"], "-"), strings.TrimPrefix(unit["Documentation"], "file://")} {
		if !slices.Contains(files, file) {
			t.Errorf("%s is not in the package", file)
		}
	}
	user := strings.Fields(strings.Split(read(t, "deploy/package/sysusers.conf"), "\n")[1])
	if user[1] != unit["User"] || user[1] != unit["Group"] {
		t.Errorf("the unit runs as %s, the package makes %q", unit["User"], user)
	}
	text := read(t, "deploy/package/drawbridge.yaml")
	for key, dir := range map[string]string{"StateDirectory": "/var/lib/", "LogsDirectory": "/var/log/"} {
		if path := dir + unit[key]; unit[key] == "" || !strings.Contains(text, path) || !strings.Contains(read(t, "deploy/package/postremove"), path) {
			t.Errorf("%s is %q: %s is not in the configuration, or a purge does not remove it", key, unit[key], path)
		}
	}
}

// TestFormula holds that the formula names the archives and their checksums, and that a missing archive is an error.
func TestFormula(t *testing.T) {
	sums := filepath.Join(t.TempDir(), "checksums.txt")
	var all []string
	for i, platform := range []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"} {
		all = append(all, strings.Repeat(string(rune('a'+i)), 64)+"  drawbridge_1.2.3_"+platform+".tar.gz")
	}
	write := func(lines []string) {
		if err := os.WriteFile(sums, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	formula := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), root+"/deploy/package/formula", "1.2.3", "https://example.com/dl/", sums).CombinedOutput()
		return string(out), err
	}
	write(all)
	text, err := formula()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, line := range all {
		sum, name, _ := strings.Cut(line, "  ")
		if want := `      url "https://example.com/dl/` + name + "\"\n      sha256 \"" + sum + `"`; !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	write(all[1:])
	if text, err := formula(); err == nil || !strings.Contains(text, "has no drawbridge_1.2.3_darwin_arm64.tar.gz") {
		t.Errorf("%v: %s", err, text)
	}
}
