package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/text"
)

// unknown returns the error of a key that a mapping does not have, with the key that was probably meant, or the places of such a key in
// a value of rootType.
func unknown(name *yaml.Node, parent string, fields []field, rootType reflect.Type) string {
	if name.ShortTag() == "!!merge" || name.Value == "<<" {
		return "merge keys are not supported; repeat the keys"
	}
	if name.Kind != yaml.ScalarNode {
		return fmt.Sprintf("expected a string as key, got %s", described(name))
	}
	place := listPosition.ReplaceAllString(join(parent, name.Value), "[]")
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.name
	}
	near := text.Nearest(name.Value, keys)
	if place == "apis[].url" || place == "apis[].openapi" {
		near = "spec"
	}
	if near != "" {
		return "unknown key" + text.DidYouMean(near)
	}
	elsewhere := slices.DeleteFunc(places(rootType, "", name.Value), func(other string) bool { return far(parent, other) })
	if len(elsewhere) > 0 {
		return fmt.Sprintf("unknown key here; it is valid at %s", strings.Join(elsewhere[:min(len(elsewhere), 3)], ", "))
	}
	return fmt.Sprintf("unknown key; the keys here are %s", strings.Join(keys, ", "))
}

var listPosition = regexp.MustCompile(`\[\d+\]`)

// far reports whether a key is so deep within another section that it was hardly meant.
func far(parent, other string) bool {
	const deep = 2 // dots
	root := func(key string) string {
		return key[:len(key)-len(strings.TrimLeft(key, "abcdefghijklmnopqrstuvwxyz_"))]
	}
	return parent != "" && strings.Count(other, ".") > deep && root(parent) != root(other)
}

// places returns the key paths that end in a key of this name.
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
