package limits

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rootfs is an image that was unpacked.
type rootfs struct {
	dir        string
	uid, gid   int
	entrypoint []string
}

// descriptor, as OCI's image specification has it.
type descriptor struct {
	Digest   string
	Platform struct{ Architecture string }
}

// unpack lays out the image for this machine's processor.
func unpack(t *testing.T, archive string) rootfs {
	t.Helper()
	blobs := filepath.Join(t.TempDir(), "layout")
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	extract(t, f, blobs)
	read := func(path string, v any) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(blobs, path))
		if err == nil {
			err = json.Unmarshal(data, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	blob := func(d descriptor) string { return "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:") }
	var layout, list struct{ Manifests []descriptor }
	read("index.json", &layout)
	read(blob(layout.Manifests[0]), &list)
	at := slices.IndexFunc(list.Manifests, func(d descriptor) bool { return d.Platform.Architecture == runtime.GOARCH })
	if at < 0 {
		t.Fatalf("the image is not for %s", runtime.GOARCH)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(blob(list.Manifests[at]), &manifest)
	var image struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	read(blob(manifest.Config), &image)

	r := rootfs{dir: filepath.Join(t.TempDir(), "root"), entrypoint: image.Config.Entrypoint}
	for _, l := range manifest.Layers {
		packed, err := os.Open(filepath.Join(blobs, blob(l)))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		extract(t, z, r.dir)
		packed.Close()
	}
	uid, gid, _ := strings.Cut(image.Config.User, ":")
	if r.uid, err = strconv.Atoi(uid); err == nil {
		r.gid, err = strconv.Atoi(gid)
	}
	if err != nil || r.uid == 0 || r.gid == 0 {
		t.Fatalf("the image's user is %q", image.Config.User)
	}
	// Above the root stand folders that the tests made for themselves alone.
	for dir := r.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // the image's user has to come through
			t.Fatal(err)
		}
	}
	return r
}

// extract writes the files of a tar file, with their modes and owners.
func extract(t *testing.T, from io.Reader, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !filepath.IsLocal(h.Name) {
			t.Fatalf("entry %q", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = copyTo(path, r)
		}
		if err == nil && os.Getuid() == 0 {
			err = os.Chown(path, h.Uid, h.Gid)
		}
		if err == nil {
			err = os.Chmod(path, h.FileInfo().Mode().Perm()|h.FileInfo().Mode()&os.ModeSticky)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func copyTo(path string, from io.Reader) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
