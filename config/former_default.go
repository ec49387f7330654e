package config

import (
	"fmt"
	"reflect"
	"strings"
)

// firstRelease is the release that the entries of Unreleased in CHANGELOG.md go to.
var firstRelease = Release{Minor: 1}

// DefaultChange is a default that a release changed. [DefaultChanges] has all of them; whoever changes a default adds it there, and to
// the table in CHANGELOG.md.
type DefaultChange struct {
	// Since is the release that changed it.
	Since Release
	// Key is the key path with [] for the items of lists, such as apis[].schema_profile. A configuration that sets it is not affected.
	Key string
	// What is what changed, for people: the key, or a few words if the key had another meaning. Its value is not changed then.
	What string
	// Was and Now are the two values as the file would have them.
	Was, Now string
	// Restore is what the configuration needs to keep the former behaviour.
	Restore string
}

// DefaultChanges returns the defaults that differ between a release and this program, in the order of the releases that changed them.
func DefaultChanges(from Release) []DefaultChange {
	var all []DefaultChange
	for _, change := range defaultChanges() {
		if from.Before(change.Since) {
			all = append(all, change)
		}
	}
	return all
}

// defaultChanges is the table. The values that apply now are those of the tags of the keys.
func defaultChanges() []DefaultChange {
	changes := []DefaultChange{
		{Since: firstRelease, Key: "limits.max_result_tokens", Was: "0", Restore: "limits: {max_result_tokens: 0}"},
		{Since: firstRelease, Key: "limits.max_result_binary", Was: "0", Restore: "limits: {max_result_binary: 0}"},
		{Since: firstRelease, Key: "apis[].schema_profile", Was: "full", Restore: "schema_profile: full"},
		{Since: firstRelease, Key: "tools.list_limit", Was: "0", Restore: "tools: {list_limit: 0}"},
		{Since: firstRelease, Key: "server.keep_alive", What: "the time until a silent call becomes an event stream", Was: "45s", Now: "server.keep_alive (15s)", Restore: "server: {keep_alive: 45s}"},
	}
	for i := range changes {
		if c := &changes[i]; c.What == "" {
			c.What, c.Now = c.Key, fieldAt(c.Key).preset
		}
	}
	return changes
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

// asOf makes the loader use the defaults of an earlier release.
func (l *loader) asOf(release Release) {
	l.former = map[ownedKey]string{}
	for _, change := range DefaultChanges(release) {
		f := fieldAt(change.Key)
		key := ownedKey{f.owner, f.name}
		// The oldest change since the release has the value that the release had.
		if _, older := l.former[key]; !older && change.What == change.Key {
			l.former[key] = change.Was
		}
	}
}

// ownedKey is a key of a struct of the configuration, wherever the struct stands.
type ownedKey struct {
	owner reflect.Type
	name  string
}

// fieldAt returns the field at a key path, with [] for the items of lists. The path is one of this package.
func fieldAt(key string) field {
	t := reflect.TypeFor[Config]()
	var found field
	for name := range strings.SplitSeq(strings.ReplaceAll(key, "[]", ""), ".") {
		for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		known := false
		for _, f := range fieldsOf(t) {
			if f.name == name {
				found, known = f, true
			}
		}
		if !known {
			panic(fmt.Sprintf("config: there is no key %s, of which a default changed", key))
		}
		t = t.Field(found.index).Type
	}
	return found
}
