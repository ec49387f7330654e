package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	var s settings
	var only string
	flag.StringVar(&s.gateway, "gateway", "bin/drawbridge", "the `program`")
	flag.StringVar(&s.programs, "programs", "out/tasks", "the `directory` that test/tasks/install has filled")
	flag.StringVar(&s.tasks, "tasks", "test/tasks/testdata", "the `directory` of the tasks")
	flag.StringVar(&s.tools, "tools", "{presentation: search, names: short}", "the key tools of the gateway's configuration, as `YAML`")
	flag.StringVar(&only, "only", "", "`names` of tasks, with commas; the others are left out")
	flag.StringVar(&s.model, "model", os.Getenv("MODEL_URL"), "do the tasks with the model behind this `URL` of an OpenAI-compatible API, such as http://127.0.0.1:8000/v1; MODEL_URL is the default; its name is in MODEL_NAME, its key in MODEL_KEY")
	flag.BoolVar(&s.serve, "serve", false, "start everything, and give out the tasks to a client until interrupted")
	flag.StringVar(&s.judge, "judge", "", "judge the tasks that were done at the `URL` of -serve, and print the table")
	flag.BoolVar(&s.fastMCP, "fastmcp", false, "do a quarter of the tasks through the gateway, then through FastMCP with its search")
	flag.StringVar(&s.python, "python", "out/alternatives-venv/bin/python", "an `interpreter` that has FastMCP")
	flag.BoolVar(&s.verbose, "v", false, "print each call of the scripts")
	flag.Parse()
	if only != "" {
		s.only = strings.Split(only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "tasks:", err)
		stop()
		os.Exit(1)
	}
}

// settings are what is done, and by what.
type settings struct {
	gateway, programs, tasks, tools string
	model, judge, python            string
	serve, fastMCP, verbose         bool
	only                            []string
}

func (s *settings) run(ctx context.Context) error {
	if s.judge != "" {
		return judged(ctx, s.judge)
	}
	all, err := readTasks(s.tasks, s.only)
	if err != nil {
		return err
	}
	// The gateway reads paths relative to its configuration, and services work in folders of their own.
	if s.programs, err = filepath.Abs(s.programs); err != nil {
		return err
	}
	w, err := newWorld(ctx, s)
	if err != nil {
		return err
	}
	defer w.close()
	fmt.Printf("%d tools, %d tasks\n", len(w.operations), len(all))
	switch {
	case s.serve:
		return w.serve(ctx, all)
	case s.model != "":
		return w.askModel(ctx, s.model, all)
	case s.fastMCP:
		return w.compare(ctx, s, all)
	}
	done, err := w.playAll(ctx, all, w.endpoint, w, s.log())
	if err != nil {
		return err
	}
	return report(os.Stdout, "script", done)
}

// log is where each call of a script is written.
func (s *settings) log() io.Writer {
	if s.verbose {
		return os.Stdout
	}
	return io.Discard
}

// playAll does tasks by their scripts, one after the other.
func (w *world) playAll(ctx context.Context, all []*task, endpoint string, to server, log io.Writer) (done []outcome, err error) {
	for _, t := range all {
		o, err := w.play(ctx, t, endpoint, to, log)
		if err != nil {
			return nil, err
		}
		done = append(done, o)
	}
	return done, nil
}
