package config

import (
	"bytes"
	"path/filepath"
	"reflect"
)

// DefaultAdminListen returns admin.listen of a configuration that does not say it.
func DefaultAdminListen() Address {
	return defaultsOf[Admin]().Listen
}

// DefaultLimits returns the limits of a configuration that does not say them. Servers that aren't those of an API, such as issuers, are
// asked within these.
func DefaultLimits() Limits { return defaultsOf[Limits]() }

func defaultsOf[T any]() (section T) {
	(&loader{}).defaults(reflect.ValueOf(&section).Elem())
	return section
}

// AdminListen returns admin.listen of a configuration file of which nothing else need be right, for who looks for a gateway that
// runs with an earlier text of it. false: not even that can be read.
func AdminListen(location string, getenv func(string) string) (Address, bool) {
	data, err := readFile(location)
	if err != nil {
		return "", false
	}
	l := &loader{file: location, dir: filepath.Dir(location), getenv: getenv, rootType: reflect.TypeFor[Config]()}
	var cfg Config
	root := l.parse(bytes.TrimPrefix(data, []byte("\ufeff")))
	if root == nil {
		return "", false
	}
	l.root(root, &cfg)
	return cfg.Admin.Listen, cfg.Admin.Listen != "" && !l.failed["admin"] && !l.failed["admin.listen"]
}
