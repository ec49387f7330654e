package main

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// streams adds the routes that tell how far they are before they answer.
func streams(mux *http.ServeMux) {
	mux.HandleFunc("POST /steps", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		out := http.NewResponseController(w)
		for _, done := range []int{0, 50, 100} {
			fmt.Fprintf(w, "{\"progress\":%d,\"total\":100,\"message\":\"%d of 100\"}\n", done, done)
			if out.Flush() != nil || pause(r, 50*time.Millisecond) != nil {
				return // the client has gone
			}
		}
		io.WriteString(w, `{"result":"All steps are done."}`+"\n")
	})
}

// pause waits, or returns an error when the client has gone.
func pause(r *http.Request, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}
