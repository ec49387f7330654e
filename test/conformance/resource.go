package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

// resources adds the routes that are read as resources.
func resources(mux *http.ServeMux) {
	mux.HandleFunc("GET /documents/text", func(w http.ResponseWriter, r *http.Request) {
		say(w, "This is the content of the static text resource.")
	})
	mux.HandleFunc("GET /documents/example", func(w http.ResponseWriter, r *http.Request) {
		say(w, "Embedded resource content for testing.")
	})
	mux.HandleFunc("GET /documents/binary", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Write(picture())
	})
	mux.HandleFunc("GET /records/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id)
	})
	var looks atomic.Int64 // the document is another one after each three looks
	mux.HandleFunc("GET /documents/watched", func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf(`"%d"`, looks.Add(1)/3)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		say(w, "Version "+tag)
	})
}
