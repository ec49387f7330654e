package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

func (in *Include) validate(c cursor) {
	if !c.unread("files") {
		c.check("files", checkTargetFile(in.Files.String()))
	}
	if in.EnvPrefix != "" && !variableName(in.EnvPrefix) {
		c.errorf("env_prefix", "must be letters, digits and _, such as TEAM_A_")
	}
	cfg := c.config()
	for i := range before(cfg.Include, in) {
		other := &cfg.Include[i]
		c.check("name_prefix", sameGrant(in.NamePrefix, other.NamePrefix, i, "names"))
		c.check("env_prefix", sameGrant(in.EnvPrefix, other.EnvPrefix, i, "variables"))
		c.check("folder", in.overlapsFolder(other, i))
	}
	for i := range cfg.APIs {
		if api := &cfg.APIs[i]; api.include == nil && in.NamePrefix != "" && hasPrefixFold(api.Name, in.NamePrefix) {
			c.errorf("name_prefix", "%q begins the name of %s, %q, which is not of these files: choose another prefix", in.NamePrefix, c.shownKey(fmt.Sprintf("apis[%d]", i)), api.Name)
		}
	}
	if cfg.Tools.Prefix == PrefixNever {
		c.errorf("name_prefix", "has no use with tools.prefix: never, which lets operations of one team have the tool names of another")
	}
}

// sameGrant returns an error if one of two prefixes begins with the other: the same names would be granted twice.
func sameGrant(own, other string, i int, noun string) error {
	if own == "" || other == "" || !hasPrefixFold(own, other) && !hasPrefixFold(other, own) {
		return nil
	}
	return fmt.Errorf("%q and %q of include[%d] grant the same %s; neither may begin with the other", own, other, i, noun)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func (in *Include) overlapsFolder(other *Include, i int) error {
	if in.Folder == "" || other.Folder == "" || !isBelow(in.Folder.String(), other.Folder.String()) && !isBelow(other.Folder.String(), in.Folder.String()) {
		return nil
	}
	return fmt.Errorf("%q and %q of include[%d] grant the same files; neither may contain the other", in.Folder, other.Folder, i)
}

// isBelow reports whether a path is that of a directory, or below it, as far as both exist with links followed.
func isBelow(path, dir string) bool {
	real := func(path string) string {
		if real, err := realPath(path); err == nil {
			return real
		}
		return path
	}
	name, err := filepath.Rel(real(dir), real(path))
	return err == nil && filepath.IsLocal(name)
}
