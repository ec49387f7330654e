package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Include adds the APIs and rules of files that another team writes, and grants them the names, environment variables, files and addresses that
// they may use. Without a grant they use none: whatever an included file names is checked against the grants of its entry alone.
type Include struct {
	// The files, .yaml, .yml or .json, with the keys apis and rules. The last element of the path may hold *, as in
	// teams/a/*.yaml. It must match a file, and files belong to one entry only.
	Files File `yaml:"files" required:"true" access:"none: each API is compared"`
	// The beginning of the names of their APIs and of the tool names that their rules give. Neither another entry nor an
	// API of this file may have names that begin so.
	NamePrefix string `yaml:"name_prefix" required:"true" access:"none: names of APIs are compared" is:"api-name"`
	// The beginning of the environment variables that the files may refer to.
	EnvPrefix string `yaml:"env_prefix,omitempty" absent:"no environment variable"`
	// The directory that contains all documents, overlays, secrets, keys and certificates that the files may name.
	// Symbolic links must not leave it. Documents may refer to all files in it.
	Folder File `yaml:"folder,omitempty" absent:"no file"`
	// The networks (CIDR) or addresses that every host must have that the APIs of the files connect to: services,
	// documents, authorization servers.
	AllowAddresses []Network `yaml:"allow_addresses" required:"true" access:"grants" empty:"give the networks of the team's services"`
}

// Included is a file that [Include] adds: the keys that a team decides about.
type Included struct {
	// The OpenAPI documents whose operations become tools. Each API needs a name.
	APIs []API `yaml:"apis,omitempty" absent:"none" empty:"leave it out, or list an OpenAPI document"`
	// Settings for the tools of the APIs of the same entry of include. The rules of the main file come after them.
	Rules []Rule `yaml:"rules,omitempty" absent:"none" empty:"leave it out"`
}

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

// notGranted is the error of a variable or file that an included file may not use.
type notGranted string

func (n notGranted) Error() string { return string(n) }

// checkGranted returns an error unless a path is granted to the included file that is read. Links must not lead out of the folder.
func (l *loader) checkGranted(path resolver) error {
	text := fmt.Sprint(reflect.ValueOf(path).Elem())
	if l.granted == nil || isURL(text) {
		return nil
	}
	name, err := l.granted.nameBelow(text)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(l.granted.Folder.String())
	if err != nil {
		return fmt.Errorf("can't be read: the folder %q: %s", l.granted.Folder, reason(err))
	}
	defer func() { _ = root.Close() }() // nothing was written
	if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("can't be used: %s", reason(err))
	}
	return nil
}

// nameBelow returns the path of a file relative to the folder that is granted, and an error if it is not below the folder.
func (in *Include) nameBelow(path string) (string, error) {
	if in.Folder == "" {
		return "", notGranted("is not granted to this file: its entry of include has no folder")
	}
	name, err := filepath.Rel(in.Folder.String(), path)
	if err != nil || !filepath.IsLocal(name) {
		return "", notGranted(fmt.Sprintf("is not granted to this file: it must be in the folder %q", in.Folder))
	}
	return name, nil
}

// allowsVariable returns an error unless an environment variable is granted.
func (in *Include) allowsVariable(name string) error {
	switch {
	case in.EnvPrefix == "":
		return errors.New("the environment variable is not granted to this file: its entry of include has no env_prefix")
	case !strings.HasPrefix(name, in.EnvPrefix):
		return fmt.Errorf("the environment variable is not granted to this file: its name must begin with %s", in.EnvPrefix)
	}
	return nil
}

// allowsNetwork reports whether a network is part of one that is granted.
func (in *Include) allowsNetwork(n Network) bool {
	return slices.ContainsFunc(in.AllowAddresses, func(granted Network) bool {
		return granted.prefix.Bits() <= n.prefix.Bits() && granted.prefix.Contains(n.prefix.Addr())
	})
}

// GrantedAddresses returns the networks that contain every address that the API may connect to; nil if it is not of an included file.
func (a *API) GrantedAddresses() []Network {
	if a.include == nil {
		return nil
	}
	return a.include.AllowAddresses
}

// Folder returns the directory that contains all files that the API may name; "" if it is not of an included file.
func (a *API) Folder() string {
	if a.include == nil {
		return ""
	}
	return a.include.Folder.String()
}
