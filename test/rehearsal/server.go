package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// handler offers the files of the release at /files/, changed ones at /changed/ and /forged/, and the registries at /npm/ and /pypi/.
func (r *rehearsal) handler() (http.Handler, error) {
	mux := http.NewServeMux()
	files := http.FileServer(http.Dir(r.dir))
	mux.Handle("/files/", http.StripPrefix("/files", files))
	changed, err := os.ReadFile(r.archive())
	if err != nil {
		return nil, err
	}
	original := sha256.Sum256(changed)
	changed = append(changed, 0)
	forged := sha256.Sum256(changed)
	sums, err := os.ReadFile(filepath.Join(r.dir, "checksums.txt"))
	if err != nil {
		return nil, err
	}
	sums = bytes.ReplaceAll(sums, []byte(hex.EncodeToString(original[:])), []byte(hex.EncodeToString(forged[:])))
	for _, folder := range []string{"/changed", "/forged"} {
		mux.Handle(folder+"/", http.StripPrefix(folder, files))
		mux.HandleFunc(folder+"/"+filepath.Base(r.archive()), content(changed))
	}
	mux.HandleFunc("/forged/checksums.txt", content(sums))
	if err := r.addNPM(mux); err != nil {
		return nil, err
	}
	return mux, r.addPyPI(mux)
}

func content(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) } // a client that has gone
}

// addNPM offers the metadata of each package for npm, with the one version that there is.
func (r *rehearsal) addNPM(mux *http.ServeMux) error {
	paths, err := filepath.Glob(filepath.Join(r.dir, "*.tgz"))
	if err != nil {
		return err
	}
	packages := map[string]json.RawMessage{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		manifest, err := packageJSON(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		sum := sha512.Sum512(data)
		manifest["dist"] = map[string]string{
			"tarball": r.url + "/files/" + filepath.Base(path), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		name := fmt.Sprint(manifest["name"])
		if packages[name], err = json.Marshal(map[string]any{
			"name": name, "dist-tags": map[string]any{"latest": manifest["version"]}, "versions": map[string]any{fmt.Sprint(manifest["version"]): manifest},
		}); err != nil {
			return err
		}
	}
	mux.HandleFunc("/npm/", func(w http.ResponseWriter, req *http.Request) {
		document, ok := packages[strings.TrimPrefix(req.URL.Path, "/npm/")]
		if !ok {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		content(document)(w, req)
	})
	return nil
}

// packageJSON reads the manifest of a package for npm.
func packageJSON(tgz []byte) (map[string]any, error) {
	z, err := gzip.NewReader(bytes.NewReader(tgz))
	if err != nil {
		return nil, err
	}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it has no package.json")
		}
		if err != nil {
			return nil, err
		}
		if h.Name == "package/package.json" {
			var manifest map[string]any
			err := json.NewDecoder(t).Decode(&manifest)
			return manifest, err
		}
	}
}

// addPyPI offers the list of wheels as PyPI does (PEP 503).
func (r *rehearsal) addPyPI(mux *http.ServeMux) error {
	paths, err := filepath.Glob(filepath.Join(r.dir, "*.whl"))
	if err != nil {
		return err
	}
	page := "<!DOCTYPE html>\n<html><body>\n"
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := html.EscapeString(filepath.Base(path))
		page += fmt.Sprintf("<a href=\"%s/files/%s#sha256=%x\">%s</a>\n", r.url, strings.ReplaceAll(name, "+", "%2B"), sha256.Sum256(data), name)
	}
	page += "</body></html>\n"
	normal := strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(r.pypi, "-"))
	mux.HandleFunc("/pypi/"+normal+"/", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		content([]byte(page))(w, req)
	})
	return nil
}
