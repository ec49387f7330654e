package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program is a script in the place of a platform's program: it prints its arguments and ends with the first.
func program(p platform) string {
	return "#!/bin/sh\necho " + p.OS + " " + p.Arch + " \"$@\"\nexit $1\n"
}

// archives writes the archives of a release, and returns their paths.
func archives(t *testing.T, version string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, p := range platforms {
		var b bytes.Buffer
		var err error
		if p.OS == "windows" {
			z := zip.NewWriter(&b)
			for name, data := range map[string]string{"LICENSE": "terms", "drawbridge.exe": program(p)} {
				w, e := z.Create(name)
				_, e2 := io.WriteString(w, data)
				err = errors.Join(err, e, e2)
			}
			err = errors.Join(err, z.Close())
		} else {
			z := gzip.NewWriter(&b)
			w := tar.NewWriter(z)
			for name, data := range map[string]string{"LICENSE": "terms", "README.md": "other", "drawbridge": program(p)} {
				err = errors.Join(err, w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}))
				_, e := io.WriteString(w, data)
				err = errors.Join(err, e)
			}
			err = errors.Join(err, w.Close(), z.Close())
		}
		path := filepath.Join(dir, p.archive(version))
		if err := errors.Join(err, os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// write runs the program and returns the folder with the packages.
func write(t *testing.T, flags ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	epoch := func(string) string { return "1767323045" }
	return dir, run(append([]string{"-out", dir}, flags...), epoch, io.Discard)
}

// wheelFiles reads a wheel, and compares its files with its record.
func wheelFiles(t *testing.T, path string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string]string{}
	record := ""
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(data)
		if script := strings.Contains(f.Name, "/scripts/"); script != (f.Mode()&0o111 != 0) {
			t.Errorf("%s: mode %s", f.Name, f.Mode())
		}
		if strings.HasSuffix(f.Name, "/RECORD") {
			record = string(data)
		}
	}
	for name, data := range files {
		sum := sha256.Sum256([]byte(data))
		if !strings.HasSuffix(name, "/RECORD") && !strings.Contains(record, name+",sha256="+base64.RawURLEncoding.EncodeToString(sum[:])+",") {
			t.Errorf("%s is not in the record:\n%s", name, record)
		}
	}
	return files
}

func TestPackages(t *testing.T) {
	paths := archives(t, "1.2.3-rc.1")
	flags := append([]string{"-version", "1.2.3-rc.1", "-npm", "@acme/drawbridge", "-pypi", "acme.Drawbridge"}, paths...)
	dir, err := write(t, flags...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := write(t, flags...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
		one, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		other, _ := os.ReadFile(filepath.Join(again, e.Name()))
		if !bytes.Equal(one, other) {
			t.Errorf("%s differs the second time", e.Name())
		}
	}
	want := []string{
		"acme-drawbridge-1.2.3-rc.1.tgz",
		"acme-drawbridge-darwin-arm64-1.2.3-rc.1.tgz", "acme-drawbridge-darwin-x64-1.2.3-rc.1.tgz",
		"acme-drawbridge-linux-arm64-1.2.3-rc.1.tgz", "acme-drawbridge-linux-x64-1.2.3-rc.1.tgz",
		"acme-drawbridge-win32-arm64-1.2.3-rc.1.tgz", "acme-drawbridge-win32-x64-1.2.3-rc.1.tgz",
		"acme_drawbridge-1.2.3rc1-py3-none-macosx_12_0_arm64.whl", "acme_drawbridge-1.2.3rc1-py3-none-macosx_12_0_x86_64.whl",
		"acme_drawbridge-1.2.3rc1-py3-none-manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl",
		"acme_drawbridge-1.2.3rc1-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl",
		"acme_drawbridge-1.2.3rc1-py3-none-win_amd64.whl", "acme_drawbridge-1.2.3rc1-py3-none-win_arm64.whl",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Fatal(d)
	}
	for _, p := range platforms {
		files, err := unpack(filepath.Join(dir, "acme-drawbridge-"+p.NPMOS+"-"+p.NPMArch+"-1.2.3-rc.1.tgz"), "package/package.json", "package/bin/"+p.program(), "package/LICENSE")
		if err != nil {
			t.Fatal(err)
		}
		var m manifest
		if err := json.Unmarshal(files["package/package.json"], &m); err != nil || m.Name != "@acme/drawbridge-"+p.NPMOS+"-"+p.NPMArch || m.OS[0] != p.NPMOS || m.CPU[0] != p.NPMArch {
			t.Errorf("%v: %+v", err, m)
		}
		wheel := wheelFiles(t, filepath.Join(dir, "acme_drawbridge-1.2.3rc1-py3-none-"+p.Wheel+".whl"))
		if npm, python := string(files["package/bin/"+p.program()]), wheel["acme_drawbridge-1.2.3rc1.data/scripts/"+p.program()]; npm != program(p) || python != program(p) {
			t.Errorf("%s/%s carry %q and %q", p.OS, p.Arch, npm, python)
		}
		for tag := range strings.SplitSeq(p.Wheel, ".") {
			if text := wheel["acme_drawbridge-1.2.3rc1.dist-info/WHEEL"]; !strings.Contains(text, "\nTag: py3-none-"+tag+"\n") {
				t.Errorf("no tag %s in\n%s", tag, text)
			}
		}
	}
}

// TestLauncher holds that the launcher passes arguments and the exit code on, and says what is missing.
func TestLauncher(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("it needs node, and a shell")
	}
	paths := archives(t, "1.2.3")
	dir, err := write(t, append([]string{"-version", "1.2.3"}, paths...)...)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(platforms, func(p platform) bool { return p.OS == runtime.GOOS && p.Arch == runtime.GOARCH })
	if i < 0 {
		t.Skip("no package is for this platform")
	}
	p := platforms[i]
	modules := filepath.Join(t.TempDir(), "node_modules")
	install := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(modules, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", filepath.Join(dir, name+"-1.2.3.tgz"), "-C", filepath.Join(modules, name), "--strip-components=1").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	start := func() (string, int) {
		c := exec.CommandContext(t.Context(), node, filepath.Join(modules, "drawbridge/bin/drawbridge.js"), "7", "two words")
		out, _ := c.CombinedOutput()
		return string(out), c.ProcessState.ExitCode()
	}
	carrier := "drawbridge-" + p.NPMOS + "-" + p.NPMArch
	install("drawbridge")
	missing := "drawbridge: the package " + carrier + " is not installed. Install drawbridge again, without --omit=optional, on the platform that runs it\n"
	if out, code := start(); out != missing || code != 1 {
		t.Errorf("%d: %s", code, out)
	}
	install(carrier)
	if out, code := start(); out != p.OS+" "+p.Arch+" 7 two words\n" || code != 7 {
		t.Errorf("%d: %s", code, out)
	}
}

func TestErrors(t *testing.T) {
	paths := archives(t, "1.2.3")
	for _, c := range []struct {
		want  string
		flags []string
	}{
		{"usage: launchers -version VERSION [flags] ARCHIVE…", []string{"-version", "1.2.3"}},
		{"-npm \"Draw\": expected a name in lower case, such as drawbridge or @acme/drawbridge\n-pypi \"../x\": expected letters, digits, and - _ . between them",
			[]string{"-version", "1.2.3", "-npm", "Draw", "-pypi", "../x", paths[0]}},
		{"there is no drawbridge_1.2.3_windows_arm64.zip among the archives", append([]string{"-version", "1.2.3"}, paths[:5]...)},
		{"drawbridge_1.2.3_linux_amd64.tar.gz is not an archive of version 1.2.4 for a known platform", append([]string{"-version", "1.2.4"}, paths...)},
		{`version "1.2"`, append([]string{"-version", "1.2"}, archives(t, "1.2")...)},
	} {
		if dir, err := write(t, c.flags...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		} else if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: it has written %v", c.want, entries)
		}
	}
}

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "1.2.3-alpha.1": "1.2.3a1", "1.2.3-beta.2": "1.2.3b2", "1.2.3-rc.10": "1.2.3rc10",
		"0.1.0-dev.1430.gc711b8ead6dd": "0.1.0.dev1430+gc711b8ead6dd", "0.1.0-dev.7.gab.dirty": "0.1.0.dev7+gab.dirty",
	} {
		if got, err := pythonVersion(version); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", version, got, err, want)
		}
	}
}
