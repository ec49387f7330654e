package config

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// partText is a file of a part of the configuration, see [Kept], with the secrets of the files that it refers to.
type partText struct {
	file    string
	data    []byte
	secrets map[string]secretFile // by path
}

func (t *partText) equal(other *partText) bool {
	return t.file == other.file && bytes.Equal(t.data, other.data) && maps.Equal(t.secrets, other.secrets)
}

// fileShare is a file of the configuration, with its share of the lists of [Config].
type fileShare struct {
	file        string
	apis, rules span
}

// span is a range of a list.
type span struct{ first, count int }

// inList is a key path in one of the lists of an included file.
var inList = regexp.MustCompile(`(?s)\A(apis|rules)\[(\d+)\](.*)\z`)

func (p fileShare) of(list string) span {
	if list == "apis" {
		return p.apis
	}
	return p.rules
}

// placed returns the file that gives the value at a key path of the whole configuration, and the key path in this file; "" for the main file.
func placed(shares []fileShare, key string) (file, own string) {
	m := inList.FindStringSubmatch(key)
	if m == nil {
		return "", key
	}
	n, _ := strconv.Atoi(m[2])
	i := slices.IndexFunc(shares, func(p fileShare) bool { s := p.of(m[1]); return s.first <= n && n < s.first+s.count })
	if i < 0 {
		return "", key
	}
	own = fmt.Sprintf("%s[%d]%s", m[1], n-shares[i].of(m[1]).first, m[3])
	if i == len(shares)-1 {
		return "", own
	}
	return shares[i].file, own
}

// shownKey returns a key path for messages about another value: with its file unless that is the main one.
func (l *loader) shownKey(key string) string {
	file, own := placed(l.shares, key)
	if file != "" {
		return own + " of " + file
	}
	return own
}
