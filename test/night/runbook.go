package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// runbook is docs/operations.md.
type runbook string

func readRunbook() (runbook, error) {
	text, err := os.ReadFile("docs/operations.md")
	return runbook(text), err
}

// block returns the commands below a heading: the lines of its blocks of sh, without comments.
func (r runbook) block(heading string) []string {
	_, section, _ := strings.Cut(string(r), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n##")
	var commands []string
	for _, at := range strings.Split(section, "\n```sh")[1:] {
		_, body, _ := strings.Cut(at, "\n") // the rest of the info string
		body, _, closed := strings.Cut(body, "```\n")
		if !closed {
			continue
		}
		for line := range strings.Lines(body) {
			command, _, _ := strings.Cut(line, "  # ")
			if command = strings.TrimSpace(command); command != "" && command[0] != '#' {
				commands = append(commands, command)
			}
		}
	}
	return commands
}

// has is an error unless the page has each command in the section of the alert, and the section has no others.
func (r runbook) has(f *fault) error {
	var used []string
	for _, l := range f.looks {
		used = append(used, l.command)
	}
	used = append(used, f.mend...)
	section := r.block("### " + f.alert)
	for _, command := range section {
		if !slices.Contains(used, command) {
			return fmt.Errorf("%s: the page has a command that is not tried: %s", f.alert, command)
		}
	}
	for _, command := range used {
		if !slices.Contains(section, command) && !slices.Contains(r.block("## Changing the configuration"), command) {
			return fmt.Errorf("%s: the page does not have the command %s", f.alert, command)
		}
	}
	return nil
}

// shell runs commands of the page as an operator does: with the admin address of a gateway in A, its token, and names in place of the words in
// capitals.
type shell struct {
	program string // of the gateway; the page calls it drawbridge
	values  map[string]string
}

// run runs a command at the gateway whose admin listener has the address.
func (s shell) run(ctx context.Context, command, admin string) (string, error) {
	for word, value := range s.values {
		command = strings.ReplaceAll(command, word, value)
	}
	c := exec.CommandContext(ctx, "bash", "-c", command)
	c.Env = append(os.Environ(), "A="+admin, "ADMIN_TOKEN="+adminToken, "PATH="+filepath.Dir(s.program)+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(out.String()))
	}
	return out.String(), err
}
