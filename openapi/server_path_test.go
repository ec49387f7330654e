package openapi

import (
	"net/url"
	"strings"
	"testing"

	"drawbridge/openapi/tree"
)

// TestServicePath checks that the path of calls to a discovered service is that of its own server, and that an unused
// path is reported with the line to write.
func TestServicePath(t *testing.T) {
	for _, c := range []struct{ name, document, at, context, want, problem string }{
		{"no server", `{"openapi": "3.0.3", "paths": {}}`, "/openapi.json", "", "", ""},
		{"relative", `{"openapi": "3.0.3", "servers": [{"url": "/shop"}]}`, "/openapi.json", "", "/shop", ""},
		{"slashes at the end", `{"openapi": "3.0.3", "servers": [{"url": "/shop//"}]}`, "/openapi.json", "", "/shop", ""},
		{"the root", `{"openapi": "3.0.3", "servers": [{"url": "/"}]}`, "/openapi.json", "", "", ""},
		{"relative to the document", `{"openapi": "3.0.3", "servers": [{"url": "../v2"}]}`, "/shop/docs/openapi.json", "", "/shop/v2", ""},
		{"above the root", `{"openapi": "3.0.3", "servers": [{"url": "../../../v2"}]}`, "/shop/openapi.json", "", "/v2", ""},
		{"an instance", `{"openapi": "3.0.3", "servers": [{"url": "http://10.0.0.1:8080/shop"}]}`, "/openapi.json", "", "/shop", ""},
		{"an instance at another port", `{"openapi": "3.0.3", "servers": [{"url": "https://10.0.0.1/shop"}]}`, "/openapi.json", "", "/shop", ""},
		{"the address of a developer", `{"openapi": "3.0.3", "servers": [{"url": "http://localhost:8080/shop"}]}`, "/openapi.json", "", "/shop", ""},
		{"without a scheme", `{"openapi": "3.0.3", "servers": [{"url": "//10.0.0.1/shop"}]}`, "/openapi.json", "", "/shop", ""},
		{"escaped", `{"openapi": "3.0.3", "servers": [{"url": "/a%20b/%C3%BC"}]}`, "/openapi.json", "", "/a%20b/%C3%BC", ""},
		{"a variable", `{"openapi": "3.0.3", "servers": [{"url": "http://{host}/{base}", "variables": {"host": {"default": "10.0.0.1"}, "base": {"default": "shop"}}}]}`, "/openapi.json", "", "/shop", ""},
		{"a public gateway", `{"openapi": "3.0.3", "servers": [{"url": "https://api.example.com/shop"}]}`, "/openapi.json", "", "",
			`the server "https://api.example.com/shop" is not an instance of the service, so its path is not used; calls go to the root of the service's instances; if the service is at /shop, set the metadata base_path of its registration: /shop`},
		{"the root of a public gateway", `{"openapi": "3.0.3", "servers": [{"url": "https://api.example.com/"}]}`, "/openapi.json", "", "", ""},
		{"a public gateway, then an own one", `{"openapi": "3.0.3", "servers": [{"url": "https://api.example.com/v1"}, {"url": "http://10.0.0.1:8080/shop"}]}`, "/openapi.json", "", "/shop", ""},
		{"dot segments", `{"openapi": "3.0.3", "servers": [{"url": "/a/../admin"}]}`, "/openapi.json", "", "", `the path of the server URL "/a/../admin" has dot segments; calls go to the root of the service's instances`},
		{"encoded dot segments", `{"openapi": "3.0.3", "servers": [{"url": "/a/%2E%2e/admin"}]}`, "/openapi.json", "", "", `the path of the server URL "/a/%2E%2e/admin" has dot segments; calls go to the root of the service's instances`},
		{"encoded slashes", `{"openapi": "3.0.3", "servers": [{"url": "/a%2f..%2fadmin"}]}`, "/openapi.json", "", "", `the path of the server URL "/a%2f..%2fadmin" has a segment that can't be used: "a%2f..%2fadmin"; calls go to the root of the service's instances`},
		{"a query", `{"openapi": "3.0.3", "servers": [{"url": "/shop?x=1"}]}`, "/openapi.json", "", "", `the server URL "/shop?x=1" has more than scheme, host and path; calls go to the root of the service's instances; if the service is at /shop, set the metadata base_path of its registration: /shop`},
		{"another scheme", `{"openapi": "3.0.3", "servers": [{"url": "ftp:/shop"}]}`, "/openapi.json", "", "", `the server URL "ftp:/shop" has no host; calls go to the root of the service's instances; if the service is at /shop, set the metadata base_path of its registration: /shop`},
		{"2.0", `{"swagger": "2.0", "basePath": "/shop/"}`, "/swagger.json", "", "/shop", ""},
		{"2.0 without a slash", `{"swagger": "2.0", "basePath": "shop"}`, "/swagger.json", "", "/shop", ""},
		{"2.0 with an instance", `{"swagger": "2.0", "host": "10.0.0.1:8080", "basePath": "/shop"}`, "/swagger.json", "", "/shop", ""},
		{"2.0 with another host", `{"swagger": "2.0", "host": "api.example.com", "basePath": "/shop"}`, "/swagger.json", "", "",
			`the server "http://api.example.com/shop" is not an instance of the service, so its path is not used; calls go to the root of the service's instances; if the service is at /shop, set the metadata base_path of its registration: /shop`},
		{"a context path and no server", `{"openapi": "3.0.3", "paths": {"/items": {}}}`, "/shop/openapi.json", "/shop", "/shop", ""},
		{"a context path and a public gateway", `{"openapi": "3.0.3", "servers": [{"url": "https://api.example.com/v1"}], "paths": {"/items": {}}}`, "/shop/openapi.json", "/shop", "/shop", ""},
		{"a context path in the paths", `{"openapi": "3.0.3", "paths": {"/shop/items": {}}}`, "/shop/openapi.json", "/shop", "", ""},
		{"a context path with no document below it", `{"openapi": "3.0.3", "paths": {"/items": {}}}`, "/openapi.json", "/shop", "", ""},
		{"a context path and another server", `{"openapi": "3.0.3", "servers": [{"url": "/v1"}], "paths": {"/items": {}}}`, "/shop/openapi.json", "/shop", "/v1", ""},
	} {
		root, err := tree.Parse("", []byte(c.document), tree.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		base, document := &url.URL{Scheme: "http", Host: "s.discovered.invalid"}, &url.URL{Scheme: "http", Host: "s.discovered.invalid", Path: c.at}
		ps := &problems{}
		s := &servers{base: base, document: document, problems: ps}
		own := func(host string) bool {
			return host == base.Host || strings.HasPrefix(host, "10.0.0.1") || IsLocal(host)
		}
		s.service = &ServicePath{Own: own, Context: c.context, Key: "the metadata base_path"}
		all := listed(root.Get("servers"))
		if root.Get("swagger") != nil {
			all = s.swagger2(root, root.Get("schemes"))
		}
		got := s.servicePath(root, all)
		if got.EscapedPath() != c.want || got.Host != base.Host {
			t.Errorf("%s: got %s, want the path %q", c.name, got, c.want)
		}
		said := ""
		for p := range ps.seen {
			said += p.Message
		}
		if said != c.problem {
			t.Errorf("%s: got the problem %q, want %q", c.name, said, c.problem)
		}
	}
}

// FuzzServicePath checks that a server of a document changes only the path of calls, and that the path never leads
// above itself.
func FuzzServicePath(f *testing.F) {
	for _, seed := range []string{"/shop", "//evil/x", "http://10.0.0.1/a/%2e%2e/b", "../..", "/a\\..\\b", "https://u:p@10.0.0.1/x", "/;/..;/x", "/%", "\x00/"} {
		f.Add(seed, "/shop")
	}
	f.Fuzz(func(t *testing.T, server, context string) {
		root, err := tree.Parse("", []byte("openapi: 3.0.3\nservers: [{url: "+quoteYAML(server)+"}]\npaths: {/x: {}}\n"), tree.Limits{})
		if err != nil {
			t.Skip()
		}
		base := &url.URL{Scheme: "http", Host: "s.discovered.invalid"}
		s := &servers{base: base, document: &url.URL{Scheme: "http", Host: base.Host, Path: "/shop/openapi.json"}, problems: &problems{}}
		s.service = &ServicePath{Own: func(string) bool { return true }, Context: context}
		got := s.servicePath(root, listed(root.Get("servers")))
		again, err := url.Parse(got.String())
		if err != nil || again.Host != base.Host || again.Scheme != "http" || again.User != nil || again.RawQuery != "" || again.Fragment != "" {
			t.Fatalf("%q leads to %q (%v)", server, got, err)
		}
		for segment := range strings.SplitSeq(again.Path, "/") {
			if segment == "." || segment == ".." {
				t.Fatalf("%q leads to %q", server, got)
			}
		}
	})
}

// quoteYAML returns a text as a scalar in double quotes.
func quoteYAML(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString("?")
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
