// Command stopwatch does what the Start guide says, as a new user does: it runs the commands of docs/start/README.md and of docs/start/curl.md
// in a clone, one after the other in a shell, saves the configuration that the page shows, checks that each output is what the page shows,
// and prints the time of each step.
//
// The one rule: commands and files come from the pages, none from here.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"drawbridge/test/docs"
	"drawbridge/test/process"
)

const (
	goal        = 10 * time.Minute // without the compile
	startupTime = time.Minute      // for a server to print what the page shows
	readingPace = 200              // words a minute, slow for technical English
)

func main() {
	clone := flag.String("clone", "", "a clone of the repository, in which the commands run")
	flag.Parse()
	if err := walk(context.Background(), *clone); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// walker is a user at a shell in a clone. Servers run in terminals of their own.
type walker struct {
	clone     string
	state     string // file with the exported variables of the shell
	servers   []*process.Child
	took      time.Duration // without the compile
	compiling time.Duration
	ran       int
}

// walk does all steps.
func walk(ctx context.Context, clone string) (err error) {
	dir, err := os.MkdirTemp("", "stopwatch")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &walker{clone: clone, state: filepath.Join(dir, "state")}
	defer func() {
		for _, s := range slices.Backward(w.servers) {
			err = errors.Join(err, s.Stop())
		}
	}()
	for _, page := range []string{"docs/start/README.md", "docs/start/curl.md"} {
		if err := w.page(ctx, page); err != nil {
			return err
		}
	}
	words, err := steps(filepath.Join(clone, "docs/start/README.md"))
	if err != nil {
		return err
	}
	reading := time.Duration(words) * time.Minute / readingPace
	total := w.took + reading
	fmt.Printf("\n%8.1f s  the compile\n%8.1f s  %d other steps\n%8.1f s  to read the %d words of the steps before a login, at %d a minute\n%8.1f s  in all without the compile; the goal is %.0f s\n",
		w.compiling.Seconds(), w.took.Seconds(), w.ran-1, reading.Seconds(), words, readingPace, total.Seconds(), goal.Seconds())
	if total > goal || w.ran < 10 {
		return fmt.Errorf("%d steps in %v", w.ran, total)
	}
	return nil
}

// page does the steps of a page: a block of sh is a command, the first block of yaml is the configuration, and a block of text after a command
// is what it prints.
func (w *walker) page(ctx context.Context, page string) error {
	blocks, err := docs.Blocks(w.clone, page)
	if err != nil {
		return err
	}
	saved := false
	for i, b := range blocks {
		shown := ""
		if i+1 < len(blocks) && blocks[i+1].Language == "text" {
			shown = blocks[i+1].Text
		}
		switch {
		case b.Language == "yaml" && page == "docs/start/README.md" && !saved:
			saved = true
			err = os.WriteFile(filepath.Join(w.clone, "drawbridge.yaml"), []byte(b.Text), 0o600)
		case b.Language != "sh" || strings.Contains(b.Text, "https://mcp.example.com"): // a gateway with a login
			continue
		default:
			err = w.step(ctx, b.Text, shown)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", page, b.Line, err)
		}
	}
	return nil
}

var lasting = regexp.MustCompile(`^bin/drawbridge (?:serve|demo) `)

// step runs one block of commands, or starts a server.
func (w *walker) step(ctx context.Context, text, shown string) error {
	begin := time.Now()
	var err error
	if lasting.MatchString(text) {
		err = w.serve(ctx, text, shown)
	} else {
		err = w.run(ctx, text, shown)
	}
	took := time.Since(begin)
	w.ran++
	if w.ran == 1 {
		w.compiling = took
	} else {
		w.took += took
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(text), " \\\n", ""), "\n")
	fmt.Printf("%8.1f s  %.110s\n", took.Seconds(), first)
	return err
}

// shell returns a command of bash that has the variables of earlier ones.
func (w *walker) shell(text string) []string {
	script := "set -euo pipefail; cd " + w.clone + "; if [ -e " + w.state + " ]; then . " + w.state + "; fi; "
	return []string{"bash", "-c", script + text}
}

func (w *walker) run(ctx context.Context, text, shown string) error {
	args := w.shell(text + "\nexport -p >" + w.state)
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%w\n%s%s", err, stdout.String(), stderr.String())
	}
	if part := docs.NotShown(stdout.String(), shown); part != "" {
		return fmt.Errorf("the page shows\n%s\nthe output is\n%s", part, stdout.String())
	}
	return nil
}

// serve starts a server and waits until it has printed what the page shows.
func (w *walker) serve(ctx context.Context, text, shown string) error {
	ctx, cancel := context.WithTimeout(ctx, startupTime)
	defer cancel()
	args := w.shell("exec " + text)
	s, err := process.Start(context.WithoutCancel(ctx), args[0], args[1:]...)
	if err != nil {
		return err
	}
	w.servers = append(w.servers, s)
	shown = strings.ReplaceAll(shown, "\n\"level\"", "…\"level\"") // lines of a log that follow each other on the page alone
	if err := s.Await(ctx, func(context.Context) error {
		if part := docs.NotShown(s.Log(), shown); part != "" {
			return fmt.Errorf("the page shows\n%s", part)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("%w\nthe output is\n%s", err, s.Log())
	}
	return nil
}

// steps counts the words of the page's numbered sections before a login.
func steps(page string) (words int, err error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return 0, err
	}
	read, _, found := strings.Cut(string(text), "\n## 7. ")
	if !found {
		return 0, fmt.Errorf("%s has no step 7", page)
	}
	return len(strings.Fields(read)), nil
}
