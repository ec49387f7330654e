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
	flag.BoolVar(&s.mended, "mended", false, "use only the configuration with the overlays and rules of score --fix")
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
	serve, fastMCP, mended, verbose bool
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
	var c configuration
	if s.mended {
		if c, err = w.mend(ctx, s); err != nil {
			return err
		}
	}
	if err := w.startGateway(ctx, s, c); err != nil {
		return err
	}
	fmt.Printf("%d tools, %d tasks\n", len(w.operations), len(all))
	switch {
	case s.serve:
		return w.serve(ctx, all)
	case s.model != "":
		return w.askModel(ctx, s.model, all)
	case s.fastMCP:
		return w.compare(ctx, s, all)
	}
	if !s.mended {
		if err := w.playPlain(ctx, s, all); err != nil {
			return err
		}
	}
	done, err := w.playAll(ctx, all, w.endpoint, w, s.log())
	if err != nil {
		return err
	}
	return report(os.Stdout, "script, with score --fix", done)
}

// playPlain does the tasks with the configuration of the first day, prints the table, and starts the gateway with that of score --fix. A
// task that is not solved is no error: the documents may declare less than their services take.
func (w *world) playPlain(ctx context.Context, s *settings, all []*task) error {
	done, err := w.playAll(ctx, all, w.endpoint, w, s.log())
	if err != nil {
		return err
	}
	if err := report(os.Stdout, "script", done); err != nil {
		fmt.Println("\nthe configuration of the first day:", err)
	}
	fmt.Println()
	c, err := w.mend(ctx, s)
	if err != nil {
		return err
	}
	return w.startGateway(ctx, s, c)
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
