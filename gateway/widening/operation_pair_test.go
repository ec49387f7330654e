package widening

import (
	"net/url"
	"testing"

	"drawbridge/openapi"
)

// TestAddress holds which spellings of a path are one URL.
func TestAddress(t *testing.T) {
	base := func(path string) *url.URL { return &url.URL{Scheme: "https", Host: "a.example.com", Path: path} }
	want := address(&openapi.Operation{Method: "GET", Path: "/v1/orders/{id}", Base: base("")})
	for _, same := range []openapi.Operation{
		{Path: "/v1/orders/{order}/", Base: base("")}, {Path: "/orders/{id}", Base: base("/v1")}, {Path: "/orders/{id}", Base: base("/v1/")},
		{Path: "//V1/./orders/x/../{id}", Base: base("")}, {Path: "/v1/%6Frders/{id}", Base: base("")}, {Path: "/v1%2forders/{id}", Base: base("")},
		{Path: "/v1/orders;a=b/{id};c", Base: base("")}, {Path: `/v1\orders/{id}`, Base: base("/")}, {Path: "/{id}"},
	} {
		same.Method = "GET"
		if same.Path == "/{id}" {
			same.Base = &url.URL{Scheme: "https", Host: "A.example.com:443", Path: "/x/../v1/orders", RawPath: "/x/%2e%2e/v1/orders"}
		}
		if got := address(&same); got != want {
			t.Errorf("%s at %s: %s", same.Path, same.Base, got)
		}
	}
	for _, other := range []openapi.Operation{
		{Method: "POST", Path: "/v1/orders/{id}", Base: base("")}, {Method: "GET", Path: "/v1/orders", Base: base("")}, {Method: "GET", Path: "/v1/orders/{id}"},
		{Method: "GET", Path: "/orders/{id}", Base: base("/v2")}, {Method: "GET", Path: "/v1/orders/{id}", Base: &url.URL{Scheme: "http", Host: "a.example.com"}},
		{Method: "GET", Path: "/v1/orders/id", Base: base("")},
	} {
		if address(&other) == want {
			t.Errorf("%s at %s is the same", other.Path, other.Base)
		}
	}
}
