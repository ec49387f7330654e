package config

import (
	"os"
	"path/filepath"
)

// validateRoot checks the directory that the files of a document must be in or below. A root that does not hold the document would let it
// read nothing, or mean another directory.
func (a *API) validateRoot(c cursor) {
	if a.Root == "" || !c.ok("root", "spec") {
		return
	}
	if a.Spec.IsURL() {
		c.errorf("root", "has no use: the document is not from a file; allow_refs names origins that it may refer to")
		return
	}
	info, err := os.Stat(a.Root.String())
	if err == nil && !info.IsDir() {
		c.errorf("root", "%q is not a directory", a.Root)
		return
	}
	var root string
	if err == nil {
		root, err = realPath(a.Root.String())
	}
	if err != nil {
		c.errorf("root", "the directory %q can't be used: %s", a.Root, reason(err))
		return
	}
	spec, err := realPath(a.Spec.String())
	if err != nil {
		return // the document may come later, as without root
	}
	if name, err := filepath.Rel(root, spec); err != nil || !filepath.IsLocal(name) {
		c.errorf("root", "%q does not hold the document %q", a.Root, a.Spec)
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
