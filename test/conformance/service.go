package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
)

// service has a route for each operation in openapi.yaml, of which the folder has a copy that the gateway reads.
func service(folder string) http.Handler {
	mux := http.NewServeMux()
	text := func(w http.ResponseWriter, r *http.Request) { say(w, "This is a simple text response for testing.") }
	mux.HandleFunc("GET /text", text)
	mux.HandleFunc("GET /text/", text)
	mux.HandleFunc("GET /greeting", func(w http.ResponseWriter, r *http.Request) {
		say(w, fmt.Sprintf("Hello, %s!", r.URL.Query().Get("name")))
	})
	mux.HandleFunc("GET /error", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		io.WriteString(w, `{"title":"Unprocessable","status":422,"detail":"This tool intentionally returns an error for testing."}`)
	})
	mux.HandleFunc("POST /schema", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"ok":true}`)
	})
	change := func(path, list string, f file) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := f.change(); err != nil {
				http.Error(w, "the file can't be changed", http.StatusInternalServerError)
				return
			}
			say(w, "The list of "+list+" is about to change.")
		})
	}
	change("/change", "tools", file{filepath.Join(folder, "openapi.yaml"), another})
	change("/change/prompts", "prompts", file{filepath.Join(folder, "prompts", "test_changed.md"), "---\ndescription: A prompt that comes and goes.\n---\nHello.\n"})
	asked(mux)
	media(mux)
	resources(mux)
	streams(mux)
	(&jobs{all: map[string]*job{}}).routes(mux)
	return mux
}

// say answers with text.
func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, text)
}
