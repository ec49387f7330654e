package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// dummy builds a small static program.
func dummy(t *testing.T) string { return dummyFor(t, runtime.GOARCH) }

func dummyFor(t *testing.T, arch string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module dummy\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { println(\"dummy\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", "dummy", ".")
	c.Dir = dir
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch, "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "dummy")
}

const bundle = "testdata/certificate.pem"

// invoke runs the command and returns its exit code and what it printed.
func invoke(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, func(string) string { return "" }, &out, &errs)
	return code, out.String(), errs.String()
}

func TestReproducible(t *testing.T) {
	program, roots := dummy(t), bundle
	var archives [2][]byte
	for i := range archives {
		// Neither the place nor the times of the inputs may show.
		copied := filepath.Join(t.TempDir(), fmt.Sprintf("copy%d", i))
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, data, 0o700); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "sub", "image.tar")
		code, stdout, stderr := invoke("-binary", copied, "-ca", roots, "-out", out)
		if code != 0 || !strings.Contains(stdout, "digest sha256:") || !strings.Contains(stdout, "linux/"+runtime.GOARCH) {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		if archives[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) != 1 {
			t.Errorf("left beside the image: %q", left)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two images of the same program differ")
	}
}

// TestTag: the image is called by its version, in the form that registries take.
func TestTag(t *testing.T) {
	for version, want := range map[string]string{"0.1.0": "0.1.0", "v1.2.3-4-gabc-dirty": "v1.2.3-4-gabc-dirty", "a/b+c": "a-b-c", ".x": "x", "": "dev"} {
		if got := (origin{version: version}).tag(); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}

// TestLayout reads the archive as a container engine does: from the index by digests down to the files.
func TestLayout(t *testing.T) {
	path := dummy(t)
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	roots, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	second := "arm64"
	if runtime.GOARCH == second {
		second = "amd64"
	}
	other, err := os.ReadFile(dummyFor(t, second))
	if err != nil {
		t.Fatal(err)
	}
	im, err := build([][]byte{program, other}, roots, origin{"v1.2.3", "0123456789ab", time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	entries := readTar(t, im.archive)
	if got := string(entries["oci-layout"].data); got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout: %s", got)
	}
	used := map[string]bool{"oci-layout": true, "index.json": true, "manifest.json": true, "blobs/": true, "blobs/sha256/": true}
	follow := func(d descriptor, mediaType string, v any) []byte {
		t.Helper()
		name := "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:")
		data := entries[name].data
		if used[name] = true; d.MediaType != mediaType || d.Size != len(data) || digestOf(data) != d.Digest {
			t.Fatalf("%+v: %d bytes of %s with digest %s", d, len(data), mediaType, digestOf(data))
		}
		if v != nil {
			strict(t, data, v)
		}
		return data
	}
	var layout, top index
	strict(t, entries["index.json"].data, &layout)
	if layout.SchemaVersion != 2 || layout.MediaType != typeIndex || len(layout.Manifests) != 1 || layout.Manifests[0].Digest != im.digest {
		t.Fatalf("index of the layout: %+v, want %s", layout, im.digest)
	}
	follow(layout.Manifests[0], typeIndex, &top)
	if top.SchemaVersion != 2 || top.MediaType != typeIndex || len(top.Manifests) != 2 || len(im.variants) != 2 {
		t.Fatalf("index: %+v, variants %+v", top, im.variants)
	}
	for i, arch := range []string{runtime.GOARCH, second} {
		want := platform{arch, "linux"}
		if v := im.variants[i]; v.platform != want || *top.Manifests[i].Platform != want || v.digest != top.Manifests[i].Digest {
			t.Errorf("variant %+v, manifest %+v, want %v", v, top.Manifests[i], want)
		}
	}
	var m manifest
	var c imageConfig
	for _, d := range slices.Backward(top.Manifests) { // the first one last, to look into it
		m, c = manifest{}, imageConfig{}
		follow(d, typeManifest, &m)
		follow(m.Config, typeConfig, &c)
		for _, l := range m.Layers {
			follow(l, typeLayer, nil)
		}
	}
	var loads []dockerImage
	strict(t, entries["manifest.json"].data, &loads)
	if diff := gocmp.Diff([]dockerImage{dockerImageOf(m, "v1.2.3")}, loads); diff != "" {
		t.Errorf("manifest.json (-want +got):\n%s", diff)
	}
	if l := c.Config.Labels; l["org.opencontainers.image.version"] != "v1.2.3" || l["org.opencontainers.image.revision"] != "0123456789ab" {
		t.Errorf("labels %v", l)
	}
	if c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{"/drawbridge"}) ||
		c.Architecture != runtime.GOARCH || c.OS != "linux" || c.Config.Labels["org.opencontainers.image.licenses"] != "Apache-2.0" {
		t.Errorf("config: %+v", c)
	}
	if len(m.Layers) != 2 || len(c.RootFS.DiffIDs) != len(m.Layers) || len(c.History) != len(m.Layers) {
		t.Fatalf("%d layers, %d diff ids, %d steps", len(m.Layers), len(c.RootFS.DiffIDs), len(c.History))
	}
	files := map[string]entry{}
	for i, l := range m.Layers {
		z, err := gzip.NewReader(bytes.NewReader(follow(l, typeLayer, nil)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if z.Name != "" || !z.ModTime.IsZero() {
			t.Errorf("layer %d tells its name %q or time %v", i, z.Name, z.ModTime)
		}
		if got := digestOf(plain); got != c.RootFS.DiffIDs[i] {
			t.Errorf("layer %d: digest %s, want %s", i, got, c.RootFS.DiffIDs[i])
		}
		for name, e := range readTar(t, plain) {
			files[name] = e
		}
	}
	for name := range entries {
		if !used[name] {
			t.Errorf("nothing refers to %s", name)
		}
	}

	var list []string
	for name, e := range files {
		list = append(list, fmt.Sprintf("%04o %d %s", e.Mode, e.Uid, name))
	}
	slices.Sort(list)
	want := []string{
		"0644 0 etc/group",
		"0644 0 etc/passwd",
		"0644 0 etc/ssl/certs/ca-certificates.crt",
		"0700 65532 var/lib/drawbridge/",
		"0755 0 drawbridge",
		"0755 0 etc/",
		"0755 0 etc/drawbridge/",
		"0755 0 etc/ssl/",
		"0755 0 etc/ssl/certs/",
		"0755 0 var/",
		"0755 0 var/lib/",
		"1777 0 tmp/",
	}
	if diff := gocmp.Diff(want, list); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if !bytes.Equal(files["drawbridge"].data, program) || !bytes.Equal(files["etc/ssl/certs/ca-certificates.crt"].data, roots) {
		t.Error("the program or the certificates are not those that were given")
	}
}

// TestDockerfile holds that docker build makes an image that is used in the same way.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(dummy(t))
	if err != nil {
		t.Fatal(err)
	}
	p, err := inspect(program)
	if err != nil {
		t.Fatal(err)
	}
	c := configure(p, origin{})
	list := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	// Both build with the same flags.
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"CGO_ENABLED=0 ", "-tags grpcnotrace -trimpath -buildvcs=false", "-s -w -X main.version=", "-X main.commit="} {
		if !strings.Contains(string(text), flags) || !strings.Contains(string(makefile), flags) {
			t.Errorf("%q is not in both Dockerfile and Makefile", flags)
		}
	}
	for _, line := range []string{
		"USER " + c.Config.User, "ENTRYPOINT " + list(c.Config.Entrypoint), "CMD " + list(c.Config.Cmd),
		"STOPSIGNAL " + c.Config.StopSignal, "EXPOSE 8080",
	} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("Dockerfile has no line %q", line)
		}
	}
}

type entry struct {
	tar.Header
	data []byte
}

// readTar returns the entries and holds that they are in order, have one time and follow their directories.
func readTar(t *testing.T, data []byte) map[string]entry {
	t.Helper()
	entries := map[string]entry{}
	last := ""
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		dir := h.Name[:strings.LastIndexByte(strings.TrimSuffix(h.Name, "/"), '/')+1]
		if _, ok := entries[dir]; h.Name <= last || h.ModTime.Unix() != 0 || h.Uname+h.Gname != "" || dir != "" && !ok {
			t.Errorf("entry %q after %q: %+v", h.Name, last, h)
		}
		last = h.Name
		entries[h.Name] = entry{*h, body}
	}
}

func strict(t *testing.T, data []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func TestRefusals(t *testing.T) {
	program, roots := dummy(t), bundle
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\nexec drawbridge\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "image.tar")
	for _, tt := range []struct {
		why  string
		args []string
		code int
		want string
	}{
		{"no program", []string{"-binary", "nowhere", "-ca", roots}, 1,
			"image: no program at \"nowhere\"; make build makes it\n"},
		{"a script", []string{"-binary", text, "-ca", roots}, 1,
			fmt.Sprintf("image: image of %q: is not a Linux program: bad magic number '[35 33 47 98]' in record at byte 0x0\n", text)},
		{"a program that needs a dynamic linker", []string{"-binary", "/bin/sh", "-ca", roots}, 1,
			"image: image of \"/bin/sh\": is linked dynamically; build it with CGO_ENABLED=0\n"},
		{"no bundle", []string{"-binary", program, "-ca", "nowhere"}, 1,
			"image: read CA certificates: open nowhere: no such file or directory; name another file with -ca\n"},
		{"a bundle without certificates", []string{"-binary", program, "-ca", text}, 1,
			fmt.Sprintf("image: image of %q: the bundle holds no PEM certificate\n", program)},
		{"two programs for one processor", []string{"-binary", program, "-binary", program, "-ca", roots}, 1,
			fmt.Sprintf("image: image of \"%s, %s\": has two programs for %s\n", program, program, runtime.GOARCH)},
		{"an argument", []string{"x"}, 2, "image: unexpected argument \"x\"\n"},
	} {
		code, _, stderr := invoke(append([]string{"-out", out}, tt.args...)...)
		if code != tt.code || stderr != tt.want {
			t.Errorf("%s: exit %d, %q; want %d, %q", tt.why, code, stderr, tt.code, tt.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written in spite of an error")
	}
}
