package trailer

import (
	"net/http"
	"testing"
)

func TestCheck(t *testing.T) {
	for name, ok := range map[string]bool{
		"A": true, "Set-Cookie": true, "Content-Type": true, "Content-Length": false, "content-length": false, "Transfer-Encoding": false, "Trailer": false, "Host": false,
		"A ": false, "": false, "A(b": false, "A\tb": false,
	} {
		if err := Check(http.Header{name: {"x"}}); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
		if err := Check(http.Header{name: nil}); err != nil {
			t.Errorf("%q is only announced: %v", name, err)
		}
	}
}
