package admin

import "net/http"

// cleaned cleans the bodies that next writes, each in one piece.
func cleaned(clean func([]byte) []byte, next http.Handler) http.Handler {
	if clean == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(cleanWriter{w, clean}, r)
	})
}

type cleanWriter struct {
	http.ResponseWriter
	clean func([]byte) []byte
}

// Write implements [http.ResponseWriter].
func (w cleanWriter) Write(body []byte) (int, error) {
	if _, err := w.ResponseWriter.Write(w.clean(body)); err != nil {
		return 0, err
	}
	return len(body), nil
}

// Unwrap is for [http.ResponseController].
func (w cleanWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
