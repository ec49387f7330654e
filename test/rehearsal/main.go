package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "rehearsal:", err)
		}
		os.Exit(1)
	}
}

// rehearsal is a release and the server that offers it.
type rehearsal struct {
	dir       string // of the release, absolute
	version   string
	npm, pypi string // names of packages
	url       string // of the server
}

func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	var r rehearsal
	f := flag.NewFlagSet("rehearsal", flag.ContinueOnError)
	f.StringVar(&r.version, "version", "", "the `version` of the release")
	f.StringVar(&r.npm, "npm", "drawbridge", "the `name` of the package at npm")
	f.StringVar(&r.pypi, "pypi", "drawbridge", "the `name` of the package at PyPI")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 || r.version == "" {
		return errors.New("usage: rehearsal -version VERSION [flags] DIR")
	}
	if r.dir, err = filepath.Abs(f.Arg(0)); err != nil {
		return err
	}
	if _, err := os.Stat(r.archive()); err != nil {
		return fmt.Errorf("%w: make release writes the files of this version", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r.url = "http://" + l.Addr().String()
	handler, err := r.handler()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	defer func() {
		if e := errors.Join(server.Close(), <-ended); !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}()

	fmt.Fprintf(stdout, "Release %s on %s/%s.\n\n| kind | result | installed in | demo in |\n|---|---|---:|---:|\n", r.version, runtime.GOOS, runtime.GOARCH)
	failed := 0
	for _, k := range r.kinds() {
		row, err := k.rehearse(ctx)
		if err != nil {
			failed++
			fmt.Fprintf(os.Stderr, "%s: %v\n", k.name, err)
		}
		fmt.Fprintf(stdout, "| %s | %s | %s | %s |\n", k.name, row.result, row.installed, row.demo)
	}
	if failed > 0 {
		return fmt.Errorf("%d kinds failed", failed)
	}
	return nil
}

// archive returns the path of the archive for this machine.
func (r *rehearsal) archive() string {
	return filepath.Join(r.dir, fmt.Sprintf("drawbridge_%s_%s_%s.tar.gz", r.version, runtime.GOOS, runtime.GOARCH))
}

// kind is a way to install the program.
type kind struct {
	name    string
	needs   []string // programs
	missing string   // why it can't be run, besides programs that are not there
	install func(ctx context.Context, s *sandbox) (program string, err error)
	refused string // if not empty, the installation must fail with this text, and leave no program
}

// row is what the table says of a kind.
type row struct{ result, installed, demo string }

// rehearse installs the program in a root of its own, and runs it.
func (k *kind) rehearse(ctx context.Context) (_ row, err error) {
	for _, program := range k.needs {
		if _, err := exec.LookPath(program); err != nil {
			k.missing = cmp.Or(k.missing, program+" is not there")
		}
	}
	if k.missing != "" {
		return row{result: "not run: " + k.missing}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	root, err := os.MkdirTemp("", "drawbridge-rehearsal-")
	if err != nil {
		return row{result: "failed"}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	s := &sandbox{root}
	begin := time.Now()
	program, err := k.install(ctx, s)
	installed := seconds(begin)
	if k.refused != "" {
		if err == nil || !strings.Contains(err.Error(), k.refused) {
			return row{result: "failed"}, fmt.Errorf("expected the refusal %q: %w", k.refused, err)
		}
		if _, err := os.Stat(program); err == nil {
			return row{result: "failed"}, fmt.Errorf("refused, and yet there is %s", program)
		}
		return row{result: "refused", installed: installed}, nil
	}
	if err != nil {
		return row{result: "failed"}, err
	}
	version, err := s.output(ctx, program, "version")
	if err != nil {
		return row{result: "failed", installed: installed}, err
	}
	begin = time.Now()
	demo, err := s.output(ctx, program, "demo", "--once")
	if err == nil && !strings.Contains(demo, "The client received:\n     {\"orders\":[") {
		err = fmt.Errorf("the demo shows no answer: %s", demo)
	}
	if err != nil {
		return row{result: "failed", installed: installed}, err
	}
	first, _, _ := strings.Cut(version, "\n")
	return row{first, installed, seconds(begin)}, nil
}

func seconds(since time.Time) string { return fmt.Sprintf("%.1f s", time.Since(since).Seconds()) }
