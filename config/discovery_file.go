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
	Paths []File `yaml:"paths" required:"true" empty:"it needs at least one file"`
}

func (f *FileDiscovery) validate(c cursor) {
	for i, path := range f.Paths {
		c.check(c.item("paths", i), checkTargetFile(path.String()))
	}
}

// checkTargetFile refuses a path of files that can't hold services.
func checkTargetFile(path string) error {
	dir, name := filepath.Split(path)
	switch _, err := filepath.Match(name, ""); {
	case strings.ContainsAny(dir, "*?["):
		return fmt.Errorf("%s: only the last element of a path may hold a wildcard", quote(path))
	case err != nil:
		return fmt.Errorf("%s is not a pattern of files", quote(path))
	case !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)):
		return fmt.Errorf("%s must end in .json, .yaml or .yml", quote(path))
	}
	return nil
}

func (*FileDiscovery) registrations(string) registrations {
	return registrations{namespaces: []string{""}, mayOmitNamespace: true, basePathKey: "the label base_path", isTrusted: true}
}
