package admin

import (
	"net/http"
	"path"
)

// canonicalPath answers 404 for a path that is not canonical, such as //reload. [http.ServeMux]
// redirects there with 307, which makes a client repeat its POST, including the token, to another
// URL than the operator has specified (H11).
func canonicalPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.EscapedPath(); p != "*" && p != path.Clean(p) {
			writeText(w, http.StatusNotFound, "404 page not found\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}
