package discovery

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"drawbridge/config"
)

// in returns a service in a namespace, at an address that tells it from others.
func in(namespace, name string) Target {
	t := target(name, "10.0.0.1:80")
	t.Namespace = namespace
	return t
}

// names has the registry answer, and returns the services that are served with the names of their APIs, in the order of the services;
// behind the name of an API that is sent a credential stands its token.
func (b *bench) names(targets ...Target) string {
	b.says(targets...)
	return b.named()
}

func (b *bench) named() string {
	s := b.Snapshot()
	var all []string
	for i := range s.APIs {
		api := &s.APIs[i]
		service := api.Service()
		text := key{service.Namespace, service.Name}.String() + " " + api.Name
		if api.Credential != nil {
			text += " with " + api.Credential.Token.Reveal()
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

const credentialOfShop = "credentials: [{match: {name: orders, namespace: shop}, credential: {type: bearer, token: t0}}]"

// The owner of a name is the service that the configuration names with its namespace, else nobody: whichever was registered first, comes
// first in the alphabet, or was there before a restart.
func TestOwnerOfName(t *testing.T) {
	for what, c := range map[string]struct{ provider, want string }{
		"nothing names one":           {"", "aaa/orders shop-aaa-orders, shop/orders shop-shop-orders"},
		"credentials name one":        {credentialOfShop, "aaa/orders shop-aaa-orders, shop/orders shop-orders with t0"},
		"services name one":           {"services: [{name: orders, namespace: shop}, {namespace: aaa}]", "aaa/orders shop-aaa-orders, shop/orders shop-orders"},
		"services name both":          {"services: [{name: orders, namespace: [aaa, shop]}]", "aaa/orders shop-aaa-orders, shop/orders shop-shop-orders"},
		"credentials before services": {"services: [{name: orders, namespace: [aaa, shop]}], " + credentialOfShop, "aaa/orders shop-aaa-orders, shop/orders shop-orders with t0"},
		"a name with the namespace":   {"api_name: '{provider}-{namespace}-{name}', " + credentialOfShop, "aaa/orders shop-aaa-orders, shop/orders shop-shop-orders with t0"},
	} {
		provider := "  - {name: shop, file: {paths: [x.json]}}\n"
		if c.provider != "" {
			provider = "  - {name: shop, file: {paths: [x.json]}, " + c.provider + "}\n"
		}
		t.Run(what, func(t *testing.T) {
			for _, state := range []string{"", filepath.Join(t.TempDir(), "discovery.json")} {
				synctest.Test(t, func(t *testing.T) {
					a, s := in("aaa", "orders"), in("shop", "orders")
					for _, order := range [][]Target{{s, a}, {a, s}} {
						b := newBench(t, state, provider)
						b.says(order[0])
						expect(t, "one after the other", b.names(order...), c.want)
						b.end()
						b = newBench(t, state, provider)
						expect(t, "after a restart", b.names(order[1], order[0]), c.want)
						b.end()
					}
				})
			}
		})
	}
}

// A name that the configuration gives to a service is kept for it while it is not registered, or has no instance.
func TestNameIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, file: {paths: [x.json]}, "+credentialOfShop+"}\n")
		defer b.end()
		other := "aaa/orders shop-aaa-orders"
		expect(t, "not registered yet", b.names(in("aaa", "orders")), other)
		expect(t, "registered", b.names(in("aaa", "orders"), in("shop", "orders")), other+", shop/orders shop-orders with t0")
		down := in("shop", "orders")
		down.Instances = nil
		expect(t, "without an instance", b.names(in("aaa", "orders"), down), other)
		alias := in("aaa", "x")
		alias.Alias = "orders"
		expect(t, "by an alias", b.names(alias), "aaa/x shop-aaa-orders")
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		b.says(in("aaa", "orders"), in("shop", "orders"))
		down := in("shop", "orders")
		down.Instances = nil
		expect(t, "an outage gives the name to no other", b.names(in("aaa", "orders"), down), "aaa/orders shop-aaa-orders")
	})
}

// Names that are the same once they are joined, or in another case, are claims to one name; so are those of two providers.
func TestNamesThatJoin(t *testing.T) {
	for what, c := range map[string]struct {
		providers string
		targets   []Target
		want      string
	}{
		"namespace and name": {
			"  - {name: shop, file: {paths: [x.json]}, api_name: '{provider}-{namespace}-{name}'}\n", []Target{in("a", "b-c"), in("a-b", "c")},
			"a-b/c shop-a-b-c-562c6b1ead0986ef, a/b-c shop-a-b-c-7b7c44eef282bfb2",
		},
		"case": {files, []Target{in("", "orders"), in("", "Orders")}, "Orders shop-Orders-735d870a80cb5bd0, orders shop-orders-2fb22ccb696b3529"},
		"the name with the namespace of another": {
			files, []Target{in("a", "orders"), in("b", "orders"), in("", "a-orders")},
			"a-orders shop-a-orders-4cf30b9465160c0e, a/orders shop-a-orders-8925473eadff38f4, b/orders shop-b-orders",
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, "", c.providers)
				defer b.end()
				expect(t, what, b.names(c.targets...), c.want)
			})
		})
	}
}

// Services of two providers whose names join to one are told apart, too; the one that the configuration names keeps the name.
func TestNamesOfTwoProviders(t *testing.T) {
	all := configuration(t, "  - {name: shop, file: {paths: [x.json]}, "+credentialOfShop+"}\n  - {name: shop-x, file: {paths: [x.json]}}\n").Discovery
	claims := []*claim{
		newClaim(&all[0], &config.Service{Name: "x-a"}, config.Unnamed), newClaim(&all[1], &config.Service{Name: "a"}, config.Unnamed),
		newClaim(&all[0], &config.Service{Name: "x-b"}, config.NamedInServices), newClaim(&all[1], &config.Service{Name: "b"}, config.Unnamed),
	}
	settle(claims, nil)
	var got []string
	for _, c := range claims {
		got = append(got, c.name())
	}
	expect(t, "two providers", strings.Join(got, " "), "shop-x-a-9597a21985aaea3e shop-x-a-623e7b9bc03fdf8b shop-x-b shop-x-b-f35c469830179062")
}

// A service that awaits an operator takes no name from one that is served, and has a name by which it can be accepted.
func TestHeldServiceTakesNoName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, http: {url: 'http://127.0.0.1:1/x'}}\n")
		defer b.end()
		b.says(in("shop", "orders"))
		if err := b.Accept(t.Context(), "shop-orders"); err != nil {
			t.Fatal(err)
		}
		expect(t, "accepted", b.names(in("shop", "orders")), "shop/orders shop-orders")
		expect(t, "another one", b.names(in("shop", "orders"), in("aaa", "orders")), "shop/orders shop-orders")
		if err := b.Accept(t.Context(), "shop-aaa-orders"); err != nil {
			t.Fatal(err)
		}
		b.rests()
		expect(t, "both", b.named(), "aaa/orders shop-aaa-orders, shop/orders shop-shop-orders")
	})
}

// TestNamesDependOnServices gives random services, hostile ones among them that are called as others are with their digests, in random
// orders to managers that have known others before: each has the same names in the end, no two services have one, and what the
// configuration names keeps its own.
func TestNamesDependOnServices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := &configuration(t, "  - {name: shop, file: {paths: [x.json]}, "+credentialOfShop+"}\n").Discovery[0]
	for round := range 200 {
		var services []config.Service
		for range 2 + r.IntN(12) {
			s := config.Service{Namespace: []string{"", "a", "b", "a-b", "shop"}[r.IntN(5)], Name: []string{"orders", "b-orders", "x.y", "x-y", "Orders"}[r.IntN(5)]}
			if r.IntN(3) == 0 && len(services) > 0 { // as another one is called with its digest
				other := services[r.IntN(len(services))]
				s = config.Service{Name: strings.TrimPrefix([]string{uniqueName(d, &other), qualifiedName(d, &other)}[r.IntN(2)], "shop-")}
			}
			if !slices.ContainsFunc(services, func(o config.Service) bool { return o.Name == s.Name && o.Namespace == s.Namespace }) {
				services = append(services, s)
			}
		}
		var want string
		for range 4 {
			r.Shuffle(len(services), func(i, j int) { services[i], services[j] = services[j], services[i] })
			got := namesOf(d, services)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("round %d: %s, and in another order %s", round, want, got)
			}
		}
		if strings.Contains(want, "shop/orders=") && !strings.Contains(want, "shop/orders=shop-orders ") {
			t.Errorf("round %d: the configuration names shop/orders: %s", round, want)
		}
	}
}

// namesOf returns the services with their names.
func namesOf(d *config.Discovery, services []config.Service) string {
	var all []*claim
	p := providerState{}
	p.configure(d, "discovery[0]")
	for i := range services {
		all = append(all, newClaim(d, &services[i], p.named[key{services[i].Namespace, services[i].Name}]))
	}
	settle(all, nil)
	taken := map[string]bool{}
	var text []string
	for _, c := range all {
		name := strings.ToLower(c.name())
		if taken[name] {
			return "two services have the name " + name
		}
		taken[name] = true
		text = append(text, fmt.Sprintf("%s=%s ", keyOf(c.id), name))
	}
	slices.Sort(text)
	return strings.Join(text, "")
}
