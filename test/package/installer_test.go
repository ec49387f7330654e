package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// archiveOf returns an archive whose program is a script.
func archiveOf(t *testing.T, script string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: "drawbridge", Mode: 0o644, Size: int64(len(script))})
	_, e := io.WriteString(w, script)
	if err := errors.Join(err, e, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestInstaller holds that install.sh installs only what the checksums, and the signature of a signed release, agree with, and that a
// program that was there before stays as it is otherwise.
func TestInstaller(t *testing.T) {
	for _, program := range []string{"sh", "curl", "openssl", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not there", program)
		}
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	name := func(version string) string { return "drawbridge_" + version + "_" + platform + ".tar.gz" }
	files := map[string][]byte{
		name("1.2.3"): archiveOf(t, "#!/bin/sh\necho drawbridge 1.2.3\n"),
		name("1.2.2"): archiveOf(t, "#!/bin/sh\necho drawbridge 1.2.2\n"),
		name("1.2.1"): archiveOf(t, "#!/bin/sh\nexit 3\n"),
	}
	sums := ""
	for _, file := range slices.Sorted(maps.Keys(files)) {
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(files[file]), file)
	}
	sums += fmt.Sprintf("%064d  %s\n%x  other-%s\n", 0, name("1.2.0"), sha256.Sum256(files[name("1.2.3")]), name("1.1.0"))
	files[name("1.2.0")] = files[name("1.2.3")]
	files[name("1.1.0")] = files[name("1.2.3")]

	dir := t.TempDir()
	command := func(name string, args ...string) []byte {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		return out
	}
	file := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := file("key.pem", command("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"))
	public := file("public.pem", command("openssl", "pkey", "-in", key, "-pubout"))
	files["checksums.txt"] = []byte(sums)
	good := command("openssl", "dgst", "-sha256", "-sign", key, file("checksums.txt", files["checksums.txt"]))
	other := command("openssl", "dgst", "-sha256", "-sign", key, public)

	var signature []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, ok := strings.CutPrefix(r.URL.Path, "/away/"); ok {
			http.Redirect(w, r, "http://"+r.Host+"/v1.2.3/"+path, http.StatusFound)
			return
		}
		data := files[filepath.Base(r.URL.Path)]
		if strings.HasSuffix(r.URL.Path, ".sig") {
			data = signature
		}
		if data == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	defer server.Close()
	installer := func(url, key string) string {
		return file("install.sh", command(filepath.Join(root, "deploy/package/installer"), "1.2.3", url, key))
	}

	for _, c := range []struct {
		what, args string
		signature  []byte
		signed     bool
		url        string
		want       string // in the output
		code       int
	}{
		{what: "this version", want: "/bin/drawbridge: drawbridge 1.2.3\n"},
		{what: "another version", args: "--version v1.2.2", want: "/bin/drawbridge: drawbridge 1.2.2\n"},
		{what: "signed", signed: true, signature: good, want: ": drawbridge 1.2.3\n"},
		{what: "signed, without a signature", signed: true, want: "/v1.2.3/checksums.txt.sig could not be downloaded", code: 1},
		{what: "signed, with the signature of another file", signed: true, signature: other, want: "is not that of the release's key. Nothing was installed", code: 1},
		{what: "another checksum", args: "--version 1.2.0", want: "and checksums.txt says " + strings.Repeat("0", 64) + ". Nothing was installed", code: 1},
		{what: "no checksum, but one of a similar name", args: "--version 1.1.0", want: "checksums.txt has no " + name("1.1.0"), code: 1},
		{what: "a program that does not run", args: "--version 1.2.1", want: "does not run on this machine", code: 1},
		{what: "a version that is a path", args: "--version ../1.2.3", want: `--version "../1.2.3": expected a version such as 1.2.3`, code: 2},
		{what: "a version that is not there", args: "--version 9.9.9", want: "checksums.txt has no " + name("9.9.9"), code: 1},
		{what: "plain HTTP", args: "--url http://downloads.example.com", want: "expected https://…, or http:// on this machine", code: 2},
		{what: "a redirect to plain HTTP", url: "/away", want: "/away/checksums.txt could not be downloaded", code: 1},
		{what: "an unknown argument", args: "--force", want: `unexpected argument "--force"; see --help`, code: 2},
		{what: "no value", args: "--prefix", want: "--prefix needs a value; see --help", code: 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			signature = c.signature
			key := ""
			if c.signed {
				key = public
			}
			path := "/v1.2.3"
			if c.url != "" {
				path = c.url
			}
			prefix := t.TempDir()
			before := filepath.Join(prefix, "bin/drawbridge")
			if err := errors.Join(os.Mkdir(filepath.Dir(before), 0o700), os.WriteFile(before, []byte("before"), 0o600)); err != nil {
				t.Fatal(err)
			}
			run := exec.CommandContext(t.Context(), "sh", append([]string{installer(server.URL+path, key), "--prefix", prefix}, strings.Fields(c.args)...)...)
			out, _ := run.CombinedOutput()
			if code := run.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) {
				t.Errorf("%d, want %d and %q:\n%s", code, c.code, c.want, out)
			}
			now, err := os.ReadFile(before)
			if err != nil || (string(now) == "before") != (c.code != 0) {
				t.Errorf("%v: the program is %q", err, now)
			}
			if left, _ := os.ReadDir(filepath.Dir(before)); len(left) != 1 {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}
