package answer

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPartsRelease holds that parts last until they are released, and that a second answer or a second release does no harm.
func TestPartsRelease(t *testing.T) {
	p := NewCompiler(false).Compile(Declaration{Method: http.MethodGet})
	read := func(into *Parts, body string) {
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}
		if err := p.Read(resp, into); err != nil {
			t.Fatal(err)
		}
	}
	var first, second Parts
	read(&first, "first")
	read(&second, "second")
	if string(first.List[0].Data) != "first" || string(second.List[0].Data) != "second" {
		t.Errorf("%q and %q", first.List[0].Data, second.List[0].Data)
	}
	read(&first, "third")
	if len(first.List) != 1 || string(first.List[0].Data) != "third" || string(second.List[0].Data) != "second" {
		t.Errorf("%d parts, and %q", len(first.List), second.List[0].Data)
	}
	first.Release()
	first.Release()
	if first.List != nil {
		t.Error("released parts are still there")
	}
	read(&first, "fourth")
	if string(second.List[0].Data) != "second" {
		t.Errorf("the memory of another answer was used: %q", second.List[0].Data)
	}
}
