package httpmethod

import "testing"

func TestMethods(t *testing.T) {
	for method, want := range map[string][2]bool{
		"GET": {true, true}, "HEAD": {true, true}, "OPTIONS": {true, true}, "TRACE": {true, true}, "QUERY": {true, true},
		"PUT": {false, true}, "DELETE": {false, true}, "POST": {}, "PATCH": {}, "CONNECT": {}, "get": {}, "COPY": {}, "": {},
	} {
		if safe, idempotent := IsSafe(method), IsIdempotent(method); safe != want[0] || idempotent != want[1] {
			t.Errorf("%s: safe %t, idempotent %t, want %v", method, safe, idempotent, want)
		}
	}
}
