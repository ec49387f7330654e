package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var tagNames = regexp.MustCompile(`([a-z-]+):"`)

// TestTags: a tag that is misspelt, or names a key or a format that there is not, would be a rule that nothing applies.
func TestTags(t *testing.T) {
	known := []string{"yaml", "json", "default", "absent", "required", "min", "max", "zero", "reload", "access", "length", "is", "https", "unique"}
	for _, r := range presenceRules {
		known = append(known, r.tag)
	}
	for _, r := range valueRules {
		known = append(known, r.tag)
	}
	for _, of := range structs() {
		fields := fieldsOf(of)
		for _, f := range fields {
			at, tag := of.Name()+"."+f.name, of.Field(f.index).Tag
			for _, m := range tagNames.FindAllStringSubmatch(regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).ReplaceAllString(string(tag), `""`), -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s has the tag %s, which nothing reads", at, m[1])
				}
			}
			if name, ok := tag.Lookup("is"); ok && formats[name] == nil {
				t.Errorf("%s has the format %s, which there is not", at, name)
			}
			for _, rule := range []string{"excludes", "needs", "required-with", "pair", "sends"} {
				other, _, _ := strings.Cut(tag.Get(rule), ":")
				if other != "" && !slices.ContainsFunc(fields, func(f field) bool { return f.name == other }) {
					t.Errorf("%s: %s names the key %s, which there is not beside it", at, rule, other)
				}
			}
			for _, rule := range []string{"count", "length"} {
				if number := regexp.MustCompile(`^[0-9]*`).FindString(tag.Get(rule)); tag.Get(rule) != "" {
					atoi(number) // or panic
				}
			}
		}
	}
}
