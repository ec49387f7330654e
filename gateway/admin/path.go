package admin

import (
	"net/http"
	"path"
)

// exact answers 404 for a path that is not written in its shortest form, such as //reload. [http.ServeMux] redirects there with 307,
// which makes a client send its POST again, with the token, to another URL than the one that its operator has written (H11).
func exact(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.EscapedPath(); p != "*" && p != path.Clean(p) {
			writeText(w, http.StatusNotFound, "404 page not found\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}
