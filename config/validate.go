package config

import (
	"maps"
	"reflect"
)

// validate checks what a single scalar can't show: how values depend on each other and on their place. It skips what
// the reader has already found wrong.
func (l *loader) validate(cfg *Config) {
	l.misread = maps.Clone(l.failed)
	cursor{loader: l, cfg: cfg}.walk(reflect.ValueOf(cfg).Elem())
	l.apis(cfg)
	l.discovery(cfg)
	l.tools(cfg)
	l.search(cfg)
	l.rules(cfg)
	l.endpoints(cfg)
	l.prompts(cfg)
	l.state(cfg)
	l.outgoing(cfg)
}
