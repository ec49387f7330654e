package config

import (
	"os"
	"path/filepath"
)

// rootDirectory checks the directory that the files of a document must be in or below. A root that does not hold the document would let it
// read nothing, or mean another directory.
func (l *loader) rootDirectory(key string, api *API) {
	at := key + ".root"
	if api.Root == "" || !l.ok(at, key+".spec") {
		return
	}
	if api.Spec.IsURL() {
		l.errorf(at, "has no use: the document is not from a file; allow_refs names origins that it may refer to")
		return
	}
	info, err := os.Stat(api.Root.String())
	if err == nil && !info.IsDir() {
		l.errorf(at, "%q is not a directory", api.Root)
		return
	}
	var root string
	if err == nil {
		root, err = realPath(api.Root.String())
	}
	if err != nil {
		l.errorf(at, "the directory %q can't be used: %s", api.Root, reason(err))
		return
	}
	spec, err := realPath(api.Spec.String())
	if err != nil {
		return // the document may come later, as without root
	}
	if name, err := filepath.Rel(root, spec); err != nil || !filepath.IsLocal(name) {
		l.errorf(at, "%q does not hold the document %q", api.Root, api.Spec)
	}
}

// realPath returns the absolute path of what a path leads to.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}
