package discovery

import (
	"strings"
	"testing"
	"testing/synctest"
)

func TestContextPath(t *testing.T) {
	for _, c := range []struct {
		name     string
		metadata map[string]string
		status   []string
		want     string
	}{
		{"nothing", nil, nil, ""},
		{"a status page", nil, []string{"http://10.0.0.1:8080/shop/actuator/info"}, "/shop"},
		{"without a context path", nil, []string{"http://10.0.0.1:8080/actuator/info"}, ""},
		{"the second of two", nil, []string{"http://10.0.0.1:8080/health", "http://10.0.0.1:8080/a/b/actuator/health"}, "/a/b"},
		{"by another name of the host", nil, []string{"http://orders.internal:8080/shop/actuator/health"}, "/shop"},
		{"a path alone", nil, []string{"/shop/actuator/health"}, "/shop"},
		{"the port of the management", nil, []string{"http://10.0.0.1:9090/manage/actuator/health"}, ""},
		{"a name that resembles it", nil, []string{"http://10.0.0.1:8080/actuator-ui/actuator/health"}, "/actuator-ui"},
		{"another page", nil, []string{"http://10.0.0.1:8080/shop/status"}, ""},
		{"dot segments", nil, []string{"http://10.0.0.1:8080/../admin/actuator/health"}, ""},
		{"encoded dot segments", nil, []string{"http://10.0.0.1:8080/%2e%2E/admin/actuator/health"}, ""},
		{"behind encoded slashes", nil, []string{"http://10.0.0.1:8080/a%2f..%2fadmin/actuator/health"}, ""},
		{"two slashes", nil, []string{"http://10.0.0.1:8080//evil/actuator/health"}, ""},
		{"slashes at the end", nil, []string{"http://10.0.0.1:8080/shop//actuator/health"}, "/shop"},
		{"no URL", nil, []string{"http://[", "\x00", "http://10.0.0.1:port/x/actuator"}, ""},
		{"a long path", nil, []string{"http://10.0.0.1:8080/" + strings.Repeat("a", 5000) + "/actuator"}, ""},
		{"metadata", map[string]string{"contextPath": "/shop/"}, []string{"http://10.0.0.1:8080/other/actuator/info"}, "/shop"},
		{"metadata without a slash", map[string]string{"context-path": "shop"}, nil, "/shop"},
		{"of Spring", map[string]string{"server.servlet.context-path": "/shop"}, nil, "/shop"},
		{"of the management", map[string]string{"management.context-path": "/shop/actuator"}, nil, "/shop"},
		{"of the management alone", map[string]string{"management.context-path": "/actuator"}, []string{"http://10.0.0.1:8080/shop/actuator"}, "/shop"},
		{"the root", map[string]string{"contextPath": "/"}, nil, ""},
		{"hostile metadata", map[string]string{"contextPath": "/../admin", "context-path": "//evil", "context_path": "/x?y", "server.context-path": "http://evil/"}, nil, ""},
	} {
		if got := ContextPath(c.metadata, "10.0.0.1:8080", c.status...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzContextPath(f *testing.F) {
	f.Add("/shop", "http://10.0.0.1:8080/shop/actuator/info")
	f.Add("/%2e%2e/", "HTTP GET http://10.0.0.1:8080/a/../b/actuator: 200 OK")
	f.Fuzz(func(t *testing.T, metadata, status string) {
		path := ContextPath(map[string]string{"contextPath": metadata}, "10.0.0.1:8080", status, StatusURL(status))
		if path != "" && (checkPath(path) != nil || strings.HasSuffix(path, "/") || len(path) > maxLabel) {
			t.Errorf("%q and %q: %q", metadata, status, path)
		}
	})
}

// {name} in a path is one segment, whatever the name.
func TestWithName(t *testing.T) {
	for name, want := range map[string]string{
		"orders": "/orders/openapi.json", "order items": "/order%20items/openapi.json", "Größe": "/Gr%C3%B6%C3%9Fe/openapi.json",
		"a&b=c": "/a&b=c/openapi.json", "{name}": "/%7Bname%7D/openapi.json",
		"": "", ".": "", "..": "", "../admin": "", "a/b": "", `a\b`: "", "%2f": "", "%2e%2e": "", "a;b": "", "a?b": "", "a#b": "", "v1.orders": "",
		"a\nb": "", "a\x00": "", "\xff": "", "\u202e": "", strings.Repeat("a", 254): "",
	} {
		if got, ok := withName("/{name}/openapi.json", name); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got, ok := withName("/openapi.json", "../admin"); got != "/openapi.json" || !ok {
		t.Error("a path without {name} depends on the name")
	}
}

// A service with a context path is found without a word in its registration but that of its status page.
func TestLookupBelowContextPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, file: {paths: [x.json]}, documents: {paths: [/v3/api-docs, '/{name}/api.json']}}\n")
		defer b.end()
		silent := func(name, context string) Target {
			g := target(name)
			g.Document, g.ContextPath = "", context
			return g
		}
		b.services.set("shop-a.discovered.invalid/shop/v3/api-docs", document)
		b.services.set("shop-b.discovered.invalid/b/api.json", document)
		b.services.set("shop-c.discovered.invalid/shop", `</shop/api>; rel="service-desc"`)
		b.services.set("shop-c.discovered.invalid/shop/api", document)
		found := func(name, at string) string {
			return "API shop-" + name + " http://shop-" + name + ".discovered.invalid http://shop-" + name + ".discovered.invalid" + at + " [10.0.0.1:80]\n"
		}
		expect(t, "found", b.says(silent("a", "/shop"), silent("b", ""), silent("c", "/shop"), silent("..", "")),
			found("a", "/shop/v3/api-docs")+found("b", "/b/api.json")+found("c", "/shop/api")+
				"missing shop---: ..: no OpenAPI document was found; name it in the registration, or add its path to documents.paths\n")
		path := map[string]string{}
		for _, api := range b.Snapshot().APIs {
			if p := api.ServicePath(); p.Unnamed {
				path[api.Name] = p.Context
			}
		}
		if len(path) != 3 || path["shop-a"] != "/shop" {
			t.Errorf("the paths of services are found by %v", path)
		}
		named, root := silent("a", "/shop"), silent("b", "")
		named.BasePath, root.BasePath = "/v1/", "/"
		b.says(named, root)
		for _, api := range b.Snapshot().APIs {
			if api.ServicePath().Unnamed {
				t.Errorf("%s has a base path, and the document decides", api.Name)
			}
		}
	})
}
