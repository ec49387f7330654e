package config

import (
	"reflect"
	"testing"
)

// Each key of a provider that another provider may take over is a kind of registry, so that none is decoded and then left unused.
func TestRegistries(t *testing.T) {
	var d Discovery
	kinds := map[string]bool{}
	for _, k := range d.registries() {
		kinds[k.name] = true
	}
	of := reflect.TypeFor[Discovery]()
	for _, f := range fieldsOf(of) {
		if excludes := of.Field(f.index).Tag.Get("absent") == "another provider"; excludes != kinds[f.name] {
			t.Errorf("the key %s: absent for another provider %t, a Registry %t", f.name, excludes, kinds[f.name])
		}
	}
	if d.Registry() != nil || d.Kind() != "" {
		t.Errorf("a provider without a registry has %v of kind %q", d.Registry(), d.Kind())
	}
	if d.Nacos = (&NacosDiscovery{}); d.Registry() != Registry(d.Nacos) || d.Kind() != "nacos" {
		t.Errorf("a provider of Nacos has %v of kind %q", d.Registry(), d.Kind())
	}
}
