package config

import (
	"bytes"
	"maps"
	"slices"
)

// Kept tells a load which parts of the configuration in use stay, whatever is in their files now. A part is the main file, named "", or the files
// of an entry of include, named by its name_prefix. Its secret files stay as they were read, too.
type Kept struct {
	InUse *Config
	Parts []string
	Files []string // watched besides the files of the result: those of the newer parts
}

// partText is a file of a part, with the secrets of the files that it refers to.
type partText struct {
	file    string
	data    []byte
	secrets map[string]secretFile // by path
}

// of returns the files of a part that stays; nil if it doesn't.
func (k *Kept) of(name string) []*partText {
	if k == nil || !slices.Contains(k.Parts, name) {
		return nil
	}
	return k.InUse.texts[name]
}

// ChangedParts returns the names of the parts whose text or secrets differ from those of another configuration, sorted; see [Kept].
func (c *Config) ChangedParts(from *Config) (names []string) {
	all := maps.Clone(from.texts)
	maps.Copy(all, c.texts)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.EqualFunc(c.texts[name], from.texts[name], (*partText).equal) {
			names = append(names, name)
		}
	}
	return names
}

func (t *partText) equal(other *partText) bool {
	return t.file == other.file && bytes.Equal(t.data, other.data) && maps.Equal(t.secrets, other.secrets)
}

// PartFiles returns the files of a part for messages, as the configuration has them; see [Kept]. It is "" if there is no such part.
func (c *Config) PartFiles(name string) string {
	if name == "" {
		return c.file
	}
	for i := range c.Include {
		if c.Include[i].NamePrefix == name {
			return c.Include[i].Files.String()
		}
	}
	return ""
}
