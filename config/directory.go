package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// directory is a directory of documents, prompts or skills, as it was when the configuration was loaded.
type directory struct {
	path  string
	names []string
	// list returns the names that it has now.
	list func(path string) ([]string, error)
}

// isOutdated reports whether a file has come into the directory, or gone.
func (d directory) isOutdated() bool {
	names, err := d.list(d.path)
	return err == nil && !slices.Equal(names, d.names)
}

// documentNames and promptNames return the names of the files of a directory that may be documents, or prompts.
func documentNames(dir string) ([]string, error) { return regularNames(dir, documentName) }
func promptNames(dir string) ([]string, error)   { return regularNames(dir, promptName) }

// isDirectory reports whether the path leads to a directory.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// regularNames returns the names of the regular files directly in a directory that are wanted, links followed, in order.
func regularNames(dir string, wanted func(name string) bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !wanted(e.Name()) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// documentName reports whether a file of a directory may be an OpenAPI document, by its name.
func documentName(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return !strings.HasPrefix(name, ".")
	}
	return false
}

// promptName reports whether a file of a directory may be a prompt, by its name.
func promptName(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".yaml", ".yml":
		return !strings.HasPrefix(name, ".")
	}
	return false
}

// IsSourceName reports whether a file of a directory may be a document or a prompt, by its name, whichever the directory is for.
func IsSourceName(name string) bool { return documentName(name) || promptName(name) }

// withContents is the path by which a directory is watched with what its prompts hold: a file that came with an error, which keeps the
// configuration from being used, is mended without a change of any name.
func withContents(dir string) string { return filepath.Clean(dir) + string(filepath.Separator) }

// withEverything is the path by which a folder is watched with all that is below it.
func withEverything(dir string) string { return filepath.Join(dir, "...") }
