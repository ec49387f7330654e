package config

import (
	"fmt"
	"path/filepath"
	"slices"
)

// maxDocuments is the most documents in one directory.
const maxDocuments = 1000

// Directories returns the directories that the configuration gives as spec. The entries of [Config.APIs] are those of
// their files at the time of loading; the directories are among [Config.Files], so that a file that comes or goes is a
// reason to load again.
func (c *Config) Directories() []string {
	var paths []string
	for _, d := range c.directories {
		paths = append(paths, d.path)
	}
	return paths
}

// EmptyDirectories returns those of [Config.Directories] that held no file with a document's name.
func (c *Config) EmptyDirectories() []string {
	var paths []string
	for _, d := range c.directories {
		if len(d.names) == 0 {
			paths = append(paths, d.path)
		}
	}
	return paths
}

// KeyOf returns the key path of the entry that APIs[i] comes from, such as apis[0]; for a
// discovered service that of its provider.
func (c *Config) KeyOf(i int) string {
	if key := c.discoveredKey(i); key != "" {
		return key
	}
	if i < len(c.entries) {
		i = c.entries[i]
	}
	return fmt.Sprintf("apis[%d]", i)
}

// Outdated reports whether a file has come into one of the directories, or gone, since the configuration was loaded.
func (c *Config) Outdated() bool {
	return slices.ContainsFunc(slices.Concat(c.directories, c.listed), directory.isOutdated)
}

// expandDirectories replaces each entry whose spec is a directory by one entry for each file in it that may be a document,
// in the order of their names and with the same settings. Only names are read. A file that has an entry of its own keeps
// it. It comes after validation, so that key paths are those of the file.
func (l *loader) expandDirectories(cfg *Config) {
	var all []API
	for i, api := range cfg.APIs {
		dir := string(api.Spec)
		if api.Spec.IsURL() || !isDirectory(dir) {
			all, cfg.entries = append(all, api), append(cfg.entries, i)
			continue
		}
		key := fmt.Sprintf("apis[%d]", i)
		names, err := documentNames(dir)
		switch {
		case err != nil:
			l.errorf(l.specKey(key), "the directory %q can't be read: %s", dir, reason(err))
		case len(names) > maxDocuments:
			l.errorf(l.specKey(key), "the directory %q holds %d documents; at most %d are allowed", dir, len(names), maxDocuments)
		case len(names) > 1 && api.Name != "":
			l.errorf(key+".name", "can't stand here: the directory %q holds %d files, and each document in it needs a name of its own; "+
				"leave it out, or list the files", dir, len(names))
		case len(names) == 0 && l.ok(l.specKey(key)):
			l.warnf(l.specKey(key), "the directory %q holds no .json, .yaml or .yml file yet", dir)
		}
		for _, name := range names {
			file := Location(filepath.Join(dir, name))
			if !slices.ContainsFunc(cfg.APIs, func(other API) bool { return other.Spec == file }) {
				one := api
				one.Spec, one.directory = file, true
				all, cfg.entries = append(all, one), append(cfg.entries, i)
			}
		}
		cfg.directories = append(cfg.directories, directory{dir, names, documentNames})
		l.files = append(l.files, dir)
	}
	cfg.APIs = all
}
