package render

import (
	"strings"
	"testing"
)

// TestNextLink takes the link to the next page out of Link headers (RFC 8288).
func TestNextLink(t *testing.T) {
	for header, want := range map[string]string{
		``:                                      ``,
		`</a>; rel=next`:                        `</a>; rel=next`,
		`</a>; rel="next"`:                      `</a>; rel="next"`,
		`</a>; rel="NEXT last", </b>; rel=next`: `</a>; rel="NEXT last"`,
		`</a>; rel=prev, </b>; rel="next"`:      `</b>; rel="next"`,
		`</a?x=1,2;3>; rel=prev,</b?x=,>;rel=next`: `</b?x=,>;rel=next`,
		`</a>; title="b, <c>; rel=next"; rel=self`: ``,
		`</a>; title="\"", </b>; rel=next`:         `</b>; rel=next`,
		`</a>; rel=nextpage`:                       ``,
		`</a>; rel=self`:                           ``,
		`,,</a>`:                                   ``,
		`</a`:                                      ``,
	} {
		if got := nextLink(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}

// FuzzNextLink checks that a link to the next page is a part of its header.
func FuzzNextLink(f *testing.F) {
	f.Add(`</a>; rel=prev, </b>; rel="next"`)
	f.Fuzz(func(t *testing.T, header string) {
		if got := nextLink(header); !strings.Contains(header, got) {
			t.Errorf("%q is no part of %q", got, header)
		}
	})
}

// TestIsPaging tells headers about a list from those that services send with every response.
func TestIsPaging(t *testing.T) {
	for name, want := range map[string]bool{
		"X-Total-Count": true, "X-Next-Page": true, "X-Continuation-Token": true, "X-Pagination": true, "X-Has-More": true, "Content-Range": true, "X-Next-Cursor": true,
		"X-Page": false, "X-Per-Page": false, "X-Prev-Page": false, "X-Request-Id": false, "Last-Modified": false, "Content-Language": false, "X-Api-Version": false,
	} {
		if got := isPaging(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
