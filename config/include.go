package config

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Include adds the APIs and rules of files that another team writes, and grants them the names, environment variables, files and addresses that
// they may use. Without a grant they use none: whatever an included file names is checked against the grants of its entry alone.
type Include struct {
	// The files, .yaml, .yml or .json, with the keys apis and rules. The last element of the path may hold *, as in
	// teams/a/*.yaml. It must match a file, and files belong to one entry only.
	Files File `yaml:"files" required:"true" access:"none: each API is compared"`
	// The beginning of the names of their APIs and of the tool names that their rules give. Neither another entry nor an
	// API of this file may have names that begin so.
	NamePrefix string `yaml:"name_prefix" required:"true" access:"joint: entry" is:"api-name"`
	// The beginning of the environment variables that the files may refer to.
	EnvPrefix string `yaml:"env_prefix,omitempty" absent:"no environment variable"`
	// The directory that contains all documents, overlays, secrets, keys and certificates that the files may name.
	// Symbolic links must not leave it. Documents may refer to all files in it.
	Folder File `yaml:"folder,omitempty" absent:"no file"`
	// The networks (CIDR) or addresses that every host must have that the APIs of the files connect to: services,
	// documents, authorization servers.
	AllowAddresses []Network `yaml:"allow_addresses" required:"true" access:"grants" empty:"give the networks of the team's services"`
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

// Opener returns a function that opens a file that the API names, to read it, and does not wait for the writer of a pipe. It is for each later
// read of a file too, since links may change after they are checked: none leads out of [API.Folder]. It is nil if the API is not of an included
// file, whose author may not read all that the gateway may. It is safe for concurrent use.
func (a *API) Opener() func(path string) (*os.File, error) {
	if a.include == nil {
		return nil
	}
	granted := &grant{folder: a.Folder()}
	return func(path string) (*os.File, error) {
		f, err := granted.open(path)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New(reason(err))}
		}
		return f, nil
	}
}
