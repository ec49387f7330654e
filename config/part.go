package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// part is a file of the configuration, with its share of the lists of [Config].
type part struct {
	file        string
	apis, rules span
}

// span is a range of a list.
type span struct{ first, count int }

// inList is a key path in one of the lists of an included file.
var inList = regexp.MustCompile(`(?s)\A(apis|rules)\[(\d+)\](.*)\z`)

func (p part) of(list string) span {
	if list == "apis" {
		return p.apis
	}
	return p.rules
}

// placed returns the file that gives the value at a key path of the whole configuration, and the key path in this file; "" for the main file.
func placed(parts []part, key string) (file, own string) {
	m := inList.FindStringSubmatch(key)
	if m == nil {
		return "", key
	}
	n, _ := strconv.Atoi(m[2])
	i := slices.IndexFunc(parts, func(p part) bool { s := p.of(m[1]); return s.first <= n && n < s.first+s.count })
	if i < 0 {
		return "", key
	}
	own = fmt.Sprintf("%s[%d]%s", m[1], n-parts[i].of(m[1]).first, m[3])
	if i == len(parts)-1 {
		return "", own
	}
	return parts[i].file, own
}

// shownKey returns a key path for messages about another value: with its file unless that is the main one.
func (l *loader) shownKey(key string) string {
	file, own := placed(l.parts, key)
	if file != "" {
		return own + " of " + file
	}
	return own
}
