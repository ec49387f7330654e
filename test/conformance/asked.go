package main

import (
	"fmt"
	"io"
	"net/http"
)

// asked are the operations for which the gateway asks users and clients: they tell what they were called with.
func asked(mux *http.ServeMux) {
	mux.HandleFunc("GET /asked/", func(w http.ResponseWriter, r *http.Request) {
		say(w, fmt.Sprintf("Called with %s.", r.URL.Query().Encode()))
	})
	mux.HandleFunc("POST /asked/form", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		if err != nil {
			http.Error(w, "the form can't be read", http.StatusBadRequest)
			return
		}
		say(w, fmt.Sprintf("Called with %s.", body))
	})
}
