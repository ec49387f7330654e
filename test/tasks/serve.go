package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// desk gives out the tasks one after the other to a client that does them, and judges each when the next one is asked for.
type desk struct {
	world *world
	tasks []*task

	mu      sync.Mutex
	next    int    // the index of the task that is given out next
	values  values // of the task that was given out
	done    []outcome
	working context.Context // ends with the program, not with a request: a service outlives the one that starts it
}

// Done is what a client says when it asks for the next task.
type Done struct {
	Answer string `json:"answer"` // what it answers to the task before
	Calls  int    `json:"calls"`
	Tokens int    `json:"tokens"`
}

// serve gives out the tasks until the context ends.
func (w *world) serve(ctx context.Context, all []*task) error {
	d := &desk{world: w, tasks: all, working: ctx}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /next", d.giveOut)
	mux.HandleFunc("GET /report", d.report)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	fmt.Printf(`endpoint: %[1]s
tasks:    http://%[2]s

A model gets these commands and nothing else:
  go run ./test/tasks/client http://%[2]s next            the first task; with an answer to it, the next one
  go run ./test/tasks/client %[1]s instructions
  go run ./test/tasks/client %[1]s search 'WORDS'
  go run ./test/tasks/client %[1]s describe NAME…
  go run ./test/tasks/client %[1]s read NAME '{"argument": "value"}'
  go run ./test/tasks/client %[1]s call NAME '{"argument": "value"}'
  go run ./test/tasks/client %[1]s tool search_tools '{"query": "WORDS", "limit": 3}'
Then:
  make tasks TASKS_FLAGS='-judge http://%[2]s'

`, w.endpoint, l.Addr())
	for _, t := range all {
		fmt.Printf("%s: %s\n", t.name, t.text)
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = server.Close()
	}
	return err
}

// giveOut judges the task before, and answers with the text of the next one, with nothing after the last.
func (d *desk) giveOut(rw http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var done Done
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&done); err != nil && !errors.Is(err, io.EOF) {
		http.Error(rw, "expected {answer, calls, tokens}: "+err.Error(), http.StatusBadRequest)
		return
	}
	if d.next > 0 && len(d.done) < d.next {
		t := d.tasks[d.next-1]
		d.done = append(d.done, outcome{task: t.name, calls: done.Calls, tokens: done.Tokens, faults: d.world.judge(d.working, t, d.values, done.Answer)})
	}
	if d.next == len(d.tasks) {
		return
	}
	t := d.tasks[d.next]
	v, err := d.world.prepare(d.working, t)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	text, err := v.text(t.text)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	d.values = v
	d.next++
	fmt.Fprintf(rw, "Task %d of %d: %s\n", d.next, len(d.tasks), text)
}

// report answers with the tasks that were judged.
func (d *desk) report(rw http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []judgement{}
	for _, o := range d.done {
		all = append(all, judgement{o.task, o.calls, o.tokens, o.faults})
	}
	_ = json.NewEncoder(rw).Encode(all) // the client sees what comes
}

// judgement is an outcome as JSON.
type judgement struct {
	Task   string   `json:"task"`
	Calls  int      `json:"calls"`
	Tokens int      `json:"tokens"`
	Faults []string `json:"faults"`
}

// judged prints the table of the tasks that were done at a desk.
func judged(ctx context.Context, desk string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, desk+"/report", http.NoBody)
	if err != nil {
		return err
	}
	response, err := direct.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var all []judgement
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		return fmt.Errorf("%s/report: %w", desk, err)
	}
	var done []outcome
	for _, j := range all {
		done = append(done, outcome{task: j.Task, calls: j.Calls, tokens: j.Tokens, faults: j.Faults})
	}
	return report(os.Stdout, "client", done)
}
