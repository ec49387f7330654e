package config

import (
	"fmt"
	"reflect"
	"strings"
)

// firstRelease is the release that the entries of Unreleased in CHANGELOG.md go to.
var firstRelease = Release{Minor: 1}

// formerDefault is a default before a release changed it. A change of a default adds one, and a row to the table in CHANGELOG.md.
type formerDefault struct {
	since   Release // the release that changed it
	key     string  // with [] for the items of lists
	what    string  // that changed, in words, if the key had another meaning; its value is not changed then
	was     string  // the former value as the file would have it
	now     string  // the present one, "" for that of the key's tag
	restore string  // what the configuration needs to keep the former behaviour
}

// formerDefaults returns the defaults that changed since a release, in the order of the releases that changed them.
func formerDefaults(from Release) []formerDefault {
	all := []formerDefault{
		{since: firstRelease, key: "limits.max_result_tokens", was: "0", restore: "limits: {max_result_tokens: 0}"},
		{since: firstRelease, key: "limits.max_result_binary", was: "0", restore: "limits: {max_result_binary: 0}"},
		{since: firstRelease, key: "apis[].schema_profile", was: "full", restore: "schema_profile: full"},
		{since: firstRelease, key: "tools.list_limit", was: "0", restore: "tools: {list_limit: 0}"},
		{since: firstRelease, key: "server.keep_alive", what: "the time until a silent call becomes an event stream", was: "45s", now: "server.keep_alive (15s)", restore: "server: {keep_alive: 45s}"},
	}
	kept := all[:0]
	for _, f := range all {
		if from.Before(f.since) {
			kept = append(kept, f)
		}
	}
	return kept
}

// ownedKey is a key of a struct of the configuration, at all places of the struct.
type ownedKey struct {
	owner reflect.Type
	name  string
}

// presetsAsOf returns the defaults of an earlier release where they differ, by the keys of root and what is below it.
func presetsAsOf(root reflect.Type, release Release) map[ownedKey]string {
	presets := map[ownedKey]string{}
	for _, former := range formerDefaults(release) {
		f := fieldAt(root, former.key)
		key := ownedKey{f.owner, f.name}
		// The oldest change since the release has the value that the release had.
		if _, older := presets[key]; !older && former.what == "" {
			presets[key] = former.was
		}
	}
	return presets
}

// fieldAt returns the field of t at a key path, with [] for the items of lists. The path is one of this package.
func fieldAt(t reflect.Type, key string) field {
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
