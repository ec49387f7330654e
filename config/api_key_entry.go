package config

import "reflect"

// ParseAPIKey reads an entry of auth.keys, a mapping in YAML, in which references are text like any other. The problems have as key that of
// the entry, and no place. The entry is nil if there are errors.
func ParseAPIKey(entry []byte) (*APIKey, Problems) {
	l := &loader{verbatim: true, rootType: reflect.TypeFor[APIKey]()}
	var k APIKey
	if node := l.parse(entry); node != nil {
		l.structure(node, reflect.ValueOf(&k).Elem(), "")
		l.walk(&k, "", &Config{})
	}
	problems := l.renamed("", "")
	if problems.Err() != nil {
		return nil, problems
	}
	return &k, problems
}
