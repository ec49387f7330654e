package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// unknown says what is wrong with a key that a mapping does not have, with the key that was probably meant.
func unknown(name *yaml.Node, parent string, fields []field) string {
	if name.ShortTag() == "!!merge" || name.Value == "<<" {
		return "merge keys are not supported; repeat the keys"
	}
	if name.Kind != yaml.ScalarNode {
		return fmt.Sprintf("expected a string as key, got %s", described(name))
	}
	place := listPosition.ReplaceAllString(join(parent, name.Value), "[]")
	if reserved(place) {
		return "is not available in this version"
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.name
	}
	near := nearest(name.Value, keys)
	if place == "apis[].url" || place == "apis[].openapi" {
		near = "spec"
	}
	if near != "" {
		return "unknown key" + didYouMean(near)
	}
	elsewhere := slices.DeleteFunc(places(reflect.TypeFor[Config](), "", name.Value), func(other string) bool { return far(parent, other) })
	if len(elsewhere) > 0 {
		return fmt.Sprintf("unknown key; it can stand at %s", strings.Join(elsewhere[:min(len(elsewhere), 3)], ", "))
	}
	return fmt.Sprintf("unknown key; the keys here are %s", strings.Join(keys, ", "))
}

var listPosition = regexp.MustCompile(`\[\d+\]`)

// far tells whether a key stands so deep within something else that it is hardly what was meant here.
func far(parent, other string) bool {
	const deep = 2 // dots
	root := func(key string) string {
		return key[:len(key)-len(strings.TrimLeft(key, "abcdefghijklmnopqrstuvwxyz_"))]
	}
	return parent != "" && strings.Count(other, ".") > deep && root(parent) != root(other)
}

// places returns the key paths at which a key of this name can stand.
func places(t reflect.Type, path, name string) []string {
	var found []string
	for _, f := range fieldsOf(t) {
		at := join(path, f.name)
		if f.name == name {
			found = append(found, at)
		}
		ft := t.Field(f.index).Type
		for ft.Kind() == reflect.Pointer || ft.Kind() == reflect.Slice {
			if ft.Kind() == reflect.Slice {
				at += "[]"
			}
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct && !isText(ft) {
			found = append(found, places(ft, at, name)...)
		}
	}
	return found
}

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", word)
}

// Nearest returns the word that was probably meant by another, or "".
func Nearest(given string, words []string) string { return nearest(given, words) }

// nearest returns the word that was probably meant, or "": the same but for case, - and _, or a few letters off.
func nearest(given string, words []string) string {
	const longest = 64 // of a word worth comparing
	if len(given) > longest {
		return ""
	}
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(s))
	}
	best, least := "", 0
	for _, w := range words {
		d := distance(fold(given), fold(w))
		if d <= min(2, len(w)/3) && (best == "" || d < least) {
			best, least = w, d
		}
	}
	if best == "" {
		// A word's beginning or a plural is near as well.
		i := slices.IndexFunc(words, func(w string) bool {
			return len(given) >= 3 && (strings.HasPrefix(w, given) || strings.HasPrefix(given, w) && len(w) >= 3)
		})
		if i >= 0 {
			best = words[i]
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their neighbour to make a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
