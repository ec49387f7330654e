package config

import (
	"reflect"
	"slices"
)

// RestartKeys lists the keys that are read when a process starts, by the tag reload, and in which a configuration differs from the one that
// the process was started with:
//
//   - where the process listens, and whether it speaks TLS there: another process, or a proxy, may be told of the address, and
//     a port that can't be had would be found when the old one is closed already. The contents of certificate files are read again.
//   - server.old_transport: it adds URLs;
//   - server.state_dir: what one process keeps in two places would be found in the wrong one;
//   - limits.max_header: net/http reads it when a listener begins;
//   - state: what replicas share is not taken from one place to another;
//   - audit: lines would be in two places, hashed with two keys;
//   - where traces go, and the form of the log: what is on its way would be lost, or be in two forms.
func (c *Config) RestartKeys(started *Config) []string {
	var keys []string
	own, was := reflect.ValueOf(c).Elem(), reflect.ValueOf(started).Elem()
	eachEffect(own.Type(), "", "", nil, func(key string, effect reloadEffect, index []int) {
		if effect == reloadRestart && !reflect.DeepEqual(own.FieldByIndex(index).Interface(), was.FieldByIndex(index).Interface()) {
			keys = append(keys, key)
		}
	})
	slices.Sort(keys)
	return keys
}

// ServedAs returns the configuration as a process serves it that was started with another: what is read at the start alone, by the tag
// reload, is as it was then, and what follows from it.
func (c *Config) ServedAs(started *Config) *Config {
	own := *c
	v, was := reflect.ValueOf(&own).Elem(), reflect.ValueOf(started).Elem()
	eachEffect(v.Type(), "", "", nil, func(_ string, effect reloadEffect, index []int) {
		if effect == reloadRestart {
			v.FieldByIndex(index).Set(was.FieldByIndex(index))
		}
	})
	if own.Server.TLS != nil && (c.Server.TLS == nil || c.Server.TLS.ClientCAFile != own.Server.TLS.ClientCAFile) {
		own.authorities = started.authorities
	}
	if c.Auth != nil && !slices.Equal(c.Resources(), own.Resources()) {
		auth := *c.Auth
		auth.Issuers = slices.Clone(auth.Issuers)
		for i := range auth.Issuers {
			if is := &auth.Issuers[i]; slices.Equal(is.Audiences, c.Resources()) { // nobody wrote it down, see derive
				is.Audiences = own.Resources()
			}
		}
		own.Auth = &auth
	}
	return &own
}
