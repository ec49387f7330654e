package source

import (
	"testing"

	"drawbridge/config"
)

// discovered returns the settings of the API of a service, which claims the name shop-orders.
func discovered(t *testing.T, d *config.Discovery, namespace, name string) config.API {
	t.Helper()
	base, err := config.ParseURL("http://shop-orders.discovered.invalid")
	if err != nil {
		t.Fatal(err)
	}
	return d.APIFor(&config.Service{Namespace: namespace, Name: "orders"}, config.ServiceAPI{
		Name: name, Claimed: "shop-orders", Spec: "http://shop-orders.discovered.invalid/openapi.json", Base: base,
	})
}

// TestNamesOfServices checks that a configured API with a name from the title of its document keeps it when a service
// is registered that claims the name; a service that the configuration names keeps its own.
func TestNamesOfServices(t *testing.T) {
	named := config.Discovery{Name: "shop", File: &config.FileDiscovery{}, Services: config.ServiceSelectors{{Name: patterns(t, "orders"), Namespace: patterns(t, "shop")}}}
	for what, c := range map[string]struct {
		provider    *config.Discovery
		api, titled string
	}{
		"a stranger":        {&config.Discovery{Name: "shop", File: &config.FileDiscovery{}}, "shop-orders-e4ae231b", "shop-orders"},
		"one that is named": {&named, "shop-orders", "shop-orders-07973375"},
	} {
		set := &Set{Sources: []*Source{
			{Config: discovered(t, c.provider, "shop", "shop-orders"), owner: &budgetOwner{label: "shop-orders"}},
			{Config: config.API{Spec: "orders.yaml"}, owner: &budgetOwner{label: "orders"}, Document: &Document{Title: "Shop orders"}},
		}}
		clashes := set.NameSources()
		if api, titled := set.Sources[0].Name, set.Sources[1].Name; api != c.api || titled != c.titled || len(clashes) > 1 {
			t.Errorf("%s: %s and %s, %q", what, api, titled, clashes)
		}
	}
}

func patterns(t *testing.T, text string) config.Patterns {
	t.Helper()
	var p config.Pattern
	if err := p.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return config.Patterns{p}
}

// TestDocumentOfService checks that a document is kept for a service under another name, and never for another service
// with the name.
func TestDocumentOfService(t *testing.T) {
	d := &config.Discovery{Name: "shop", File: &config.FileDiscovery{}}
	shop, partner := discovered(t, d, "shop", "shop-orders"), discovered(t, d, "partner", "shop-orders")
	renamed := discovered(t, d, "shop", "shop-shop-orders")
	one := &Source{Config: shop}
	set := &Set{Sources: []*Source{one}}
	for what, c := range map[string]struct {
		api  config.API
		kept bool
	}{"another name": {renamed, true}, "another service": {partner, false}} {
		if kept := set.Similar(c.api, config.Limits{}) != nil; kept != c.kept {
			t.Errorf("%s: kept: %t", what, kept)
		}
		if found := set.Predecessor(&Source{Config: c.api}) != nil; found != c.kept {
			t.Errorf("%s: predecessor: %t", what, found)
		}
		if same := storeID(&c.api) == storeID(&shop); same != c.kept {
			t.Errorf("%s: the same stored document: %t", what, same)
		}
	}
}
