package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// file is one entry of a tar file. The name of a directory ends in a slash.
type file struct {
	name  string
	mode  fs.FileMode
	owner int
	data  []byte
}

// writeTar writes files, in order of their names and with one time for all, so that equal files give equal bytes.
func writeTar(w io.Writer, files []file, at time.Time) error {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)),
			Mode: int64(f.mode.Perm()), Uid: f.owner, Gid: f.owner, ModTime: at,
		}
		if f.mode.IsDir() {
			h.Typeflag = tar.TypeDir
		}
		if f.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// pack returns a layer and the digest of its uncompressed form.
func pack(files []file, at time.Time) (layer []byte, diff string, err error) {
	var plain, packed bytes.Buffer
	if err := writeTar(&plain, files, at); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(plain.Bytes())
	// The header of a gzip writer holds neither name nor time unless they are set.
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, "", err
	}
	if _, err := z.Write(plain.Bytes()); err != nil {
		return nil, "", err
	}
	if err := z.Close(); err != nil {
		return nil, "", err
	}
	return packed.Bytes(), "sha256:" + hex.EncodeToString(sum[:]), nil
}

// dockerImage is an entry of manifest.json, which an engine whose store is not containerd's looks for.
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func dockerImageOf(m manifest, tag string) dockerImage {
	path := func(d descriptor) string { return "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:") }
	i := dockerImage{Config: path(m.Config), RepoTags: []string{repository + ":" + tag}}
	for _, l := range m.Layers {
		i.Layers = append(i.Layers, path(l))
	}
	return i
}

// archive writes an OCI image layout that docker load takes as well.
func (b blobs) archive(top index, loads []dockerImage, at time.Time) ([]byte, error) {
	list, err := json.Marshal(top)
	if err != nil {
		return nil, err
	}
	docker, err := json.Marshal(loads)
	if err != nil {
		return nil, err
	}
	files := []file{
		{"blobs/", fs.ModeDir | 0o755, 0, nil},
		{"blobs/sha256/", fs.ModeDir | 0o755, 0, nil},
		{"index.json", 0o644, 0, list},
		{"manifest.json", 0o644, 0, docker},
		{"oci-layout", 0o644, 0, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		files = append(files, file{"blobs/sha256/" + name, 0o644, 0, b[name]})
	}
	var out bytes.Buffer
	err = writeTar(&out, files, at)
	return out.Bytes(), err
}
