package config

import (
	"fmt"
	"reflect"
	"strings"
)

// DefaultChange is a default that a release changed. [DefaultChanges] has all of them.
type DefaultChange struct {
	// Since is the release that changed it.
	Since Release
	// Key is the key path with [] for the items of lists, such as apis[].schema_profile. A configuration that sets it is not affected.
	Key string
	// What names the change for people: the key, or a few words if the key had another meaning. Its value is not changed then.
	What string
	// Was and Now are the two values as the file would have them.
	Was, Now string
	// Restore is what the configuration needs to keep the former behaviour.
	Restore string
}

// DefaultChanges returns the defaults that differ between a release and this program, in the order of the releases that changed them.
func DefaultChanges(from Release) []DefaultChange {
	var all []DefaultChange
	for _, f := range formerDefaults(from) {
		c := DefaultChange{Since: f.since, Key: f.key, What: f.what, Was: f.was, Now: f.now, Restore: f.restore}
		if c.What == "" {
			c.What, c.Now = c.Key, fieldAt(reflect.TypeFor[Config](), c.Key).preset
		}
		all = append(all, c)
	}
	return all
}

// IsDefault reports whether the configuration leaves the value to the default, at least for one item of a list.
func (c *Config) IsDefault(change DefaultChange) bool {
	list, rest, inList := strings.Cut(change.Key, "[]")
	if !inList {
		_, given := c.positions[change.Key]
		return !given
	}
	for i := 0; ; i++ {
		item := fmt.Sprintf("%s[%d]", list, i)
		if _, exists := c.positions[item]; !exists {
			return i == 0
		}
		if _, given := c.positions[item+rest]; !given {
			return true
		}
	}
}
