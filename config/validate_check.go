package config

import (
	"fmt"
	"strings"
)

func (l *loader) most(key, text string, bytes int) {
	if len(text) > bytes {
		l.errorf(key, "has %d bytes, more than %d", len(text), bytes)
	}
}

// faulty reports whether a key below this one has an error.
func (l *loader) faulty(key string) bool {
	for k := range l.failed {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

// patternKey returns the key path of a pattern, which may stand alone instead of in a list.
func patternKey(l *loader, list string, i int) string {
	if k := fmt.Sprintf("%s[%d]", list, i); l.given(k) {
		return k
	}
	return list
}

// selectorKey returns the key path of a selector, which may stand alone instead of in a list.
func selectorKey(l *loader, list string, i int) string {
	if k := fmt.Sprintf("%s[%d]", list, i); l.given(k) {
		return k
	}
	return list
}

// checker returns a function that records what is wrong with a key that is given and has no error yet.
func (l *loader) checker(key string) func(name string, err error) {
	return func(name string, err error) {
		if err != nil && l.ok(key+"."+name) && l.given(key+"."+name) {
			l.errorf(key+"."+name, "%s", err)
		}
	}
}
