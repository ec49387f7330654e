package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// job is work that goes on after the call that began it was answered.
type job struct {
	ends      time.Time
	fails     bool
	cancelled bool
	open      []question // the job does not end before they are answered
	text      string     // of the result
}

// question is what a job asks its user.
type question struct {
	ID      string          `json:"id"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"schema"`
}

// confirm is the form of a yes.
var confirm = json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}`)

// jobs are all of them by their ids. They are safe for concurrent use.
type jobs struct {
	mu  sync.Mutex
	all map[string]*job
}

// routes adds the routes that begin jobs, and those of the jobs.
func (js *jobs) routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /computations", func(w http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.ParseFloat(r.URL.Query().Get("seconds"), 64)
		if err != nil {
			http.Error(w, "seconds is not a number", http.StatusBadRequest)
			return
		}
		text := "Computed " + r.URL.Query().Get("label") + "."
		if seconds == 0 {
			say(w, text)
			return
		}
		js.begin(w, &job{ends: after(seconds), text: text})
	})
	mux.HandleFunc("POST /failures", func(w http.ResponseWriter, r *http.Request) {
		js.begin(w, &job{ends: after(1), fails: true})
	})
	mux.HandleFunc("POST /losses", func(w http.ResponseWriter, r *http.Request) {
		js.begin(w, nil)
	})
	mux.HandleFunc("POST /deletions", func(w http.ResponseWriter, r *http.Request) {
		file := r.URL.Query().Get("filename")
		js.begin(w, &job{text: "Deleted " + file + ".", open: []question{{"sure", "Delete " + file + "?", confirm}}})
	})
	mux.HandleFunc("POST /surveys", func(w http.ResponseWriter, r *http.Request) {
		js.begin(w, &job{text: "Both have answered.", open: []question{{"one", "Is it right?", confirm}, {"two", "Is it good?", confirm}}})
	})
	mux.HandleFunc("POST /letters", func(w http.ResponseWriter, r *http.Request) {
		js.begin(w, &job{ends: after(0.3), text: "Dear " + r.URL.Query().Get("name") + "!"})
	})
	mux.HandleFunc("GET /jobs/{id}", js.of(func(w http.ResponseWriter, r *http.Request, j *job) {
		state := map[string]any{"status": "running"}
		switch {
		case j.cancelled:
			state["status"] = "cancelled"
		case len(j.open) > 0:
			state["questions"] = j.open
		case time.Now().Before(j.ends):
		case j.fails:
			state["status"], state["message"] = "failed", "This job always fails."
		default:
			state["status"], state["result"] = "succeeded", map[string]string{"text": j.text}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(state) // the client sees a broken answer
	}))
	mux.HandleFunc("DELETE /jobs/{id}", js.of(func(w http.ResponseWriter, r *http.Request, j *job) {
		j.cancelled = true
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("POST /jobs/{id}/answers/{question}", js.of(func(w http.ResponseWriter, r *http.Request, j *job) {
		for i, q := range j.open {
			if q.ID == r.PathValue("question") {
				j.open = append(j.open[:i:i], j.open[i+1:]...)
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		http.Error(w, "nobody has asked that", http.StatusNotFound)
	}))
}

// after is a time that lies ahead.
func after(seconds float64) time.Time {
	return time.Now().Add(time.Duration(seconds * float64(time.Second)))
}

// begin answers that a job was begun, and where it is; nil is one that nobody will find there.
func (js *jobs) begin(w http.ResponseWriter, j *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	id := strconv.Itoa(len(js.all) + 1)
	js.all[id] = j
	w.Header().Set("Location", "/jobs/"+id)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, fmt.Sprintf(`{"id":%q,"status":"accepted"}`, id))
}

// of handles a request about a job, which no other request changes meanwhile.
func (js *jobs) of(handle func(http.ResponseWriter, *http.Request, *job)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		js.mu.Lock()
		defer js.mu.Unlock()
		j := js.all[r.PathValue("id")]
		if j == nil {
			http.Error(w, "there is no such job", http.StatusNotFound)
			return
		}
		handle(w, r, j)
	}
}
