package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// FileDiscovery reads services from files. A change of a file is noticed.
type FileDiscovery struct {
	// The files: .json, .yaml or .yml. The last element of a path may hold *, as in targets/*.json. A file that can't be read
	// leaves its last services in use.
	Paths []File `yaml:"paths" need:"true"`
}

func (f *FileDiscovery) validate(l *loader, key string) {
	key += ".paths"
	paths := f.Paths
	if len(paths) == 0 && l.ok(key) {
		l.errorf(key, "is empty; it needs at least one file")
	}
	for i, path := range paths {
		at := fmt.Sprintf("%s[%d]", key, i)
		dir, name := filepath.Split(path.String())
		switch _, err := filepath.Match(name, ""); {
		case path == "" || !l.ok(at):
		case strings.ContainsAny(dir, "*?["):
			l.errorf(at, "%s: only the last element of a path may hold a wildcard", quote(path.String()))
		case err != nil:
			l.errorf(at, "%s is not a pattern of files", quote(path.String()))
		case !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)):
			l.errorf(at, "%s must end in .json, .yaml or .yml", quote(path.String()))
		}
	}
}

func (*FileDiscovery) namespaces(string) []string { return []string{""} }

func (*FileDiscovery) mayOmitNamespace() bool { return true }

func (*FileDiscovery) basePathKey() string { return "the label base_path" }

func (*FileDiscovery) isTrusted() bool { return true }
