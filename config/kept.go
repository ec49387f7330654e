package config

import (
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

// texts returns the files of the parts that stay.
func (k *Kept) texts() map[string][]*partText {
	texts := map[string][]*partText{}
	for _, name := range k.Parts {
		if in := k.InUse.texts[name]; in != nil {
			texts[name] = in
		}
	}
	return texts
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
