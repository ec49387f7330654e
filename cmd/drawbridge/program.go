package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
)

// Set by the linker.
var (
	version = "dev"
	commit  = "unknown"
)

// Exit codes (docs/contributing/architecture.md, command line).
const (
	exitOK    = 0
	exitFail  = 1 // failure while running; check: an API can't be served
	exitUsage = 2 // bad usage or an invalid configuration
	// 128 and the number of the signal: check, tools or call was interrupted
)

// program is the state that the commands share.
type program struct {
	getenv         func(string) string
	stdout, stderr io.Writer
	screen         *terminal.Screen // standard error, if it is a terminal
	signals        <-chan os.Signal // interrupt and termination end, hang-up reloads
	config         string           // --config
	baseURL        string           // --base-url
	accept         bool             // --accept
	noSecrets      bool             // --no-secrets
	wide           bool             // --wide
	log            logOptions       // --log-format, --log-level
}

func newProgram(getenv func(string) string, stdout, stderr io.Writer, signals <-chan os.Signal) *program {
	p := &program{getenv: getenv, stdout: stdout, stderr: printable{stderr}, screen: terminal.Of(stderr), signals: signals}
	if p.screen != nil {
		p.stderr = printable{p.screen}
	}
	return p
}

// console returns the terminal to which what is for people is written beside the log; nil if there is none, or if programs read
// what is written there.
func (p *program) console(c *config.Config) *terminal.Screen {
	if c.Telemetry.LogFormat == config.LogJSON {
		return nil
	}
	return p.screen
}

// progress shows a step on standard error until it is stopped.
func (p *program) progress(step string) *terminal.Progress {
	if p.screen != nil && p.getenv("TERM") != "dumb" {
		return terminal.NewProgress(p.screen, step)
	}
	return terminal.NewProgress(p.stderr, step)
}

// wideFlag gives a command --wide.
func (p *program) wideFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.wide, "wide", false, "print tables as wide as they are, also at a terminal")
}

// tableWidth returns the width that tables on standard output must fit, 0 for any.
func (p *program) tableWidth() int {
	if screen := terminal.Of(p.stdout); screen != nil && !p.wide {
		return screen.Width()
	}
	return 0
}

// oneOf lists words for a message: "a, b or c".
func oneOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// configFlag adds --config to a command, and accepts a document as its first argument instead.
func (p *program) configFlag(c *cobra.Command) {
	c.Flags().StringVarP(&p.config, "config", "c", "", "configuration file, or an OpenAPI document's path or URL (default drawbridge.yaml in the working directory)")
	complete(c, "config", configFiles)
	c.ValidArgsFunction = completeDocument
}

// baseURLFlag adds --base-url to a command.
func (p *program) baseURLFlag(c *cobra.Command) {
	c.Flags().StringVar(&p.baseURL, strings.TrimPrefix(config.BaseURLFlag, "--"), "", "`URL` to which the calls of the only API go, in place of base_url and of the document's servers")
}

// defaultConfig is the configuration in the working directory, for which --config may be left out.
const defaultConfig = "drawbridge.yaml"

// hasDefaultConfig reports whether there is one. One that can't be read counts, so that the reason is reported.
func hasDefaultConfig() bool {
	_, err := os.Stat(defaultConfig)
	return !errors.Is(err, fs.ErrNotExist)
}

// location returns the configuration or document of the command, and the remaining arguments. after
// is the number of the command's own arguments. The default becomes --config: only a configuration
// file is taken where --config allows nothing else.
func (p *program) location(c *cobra.Command, args []string, after int) (string, []string, error) {
	if p.config == "" && c.Flags().Changed("config") { // such as --config "$UNSET"
		return "", nil, usageError{fmt.Errorf("%s: --config is empty", c.CommandPath()), c}
	}
	location := p.config
	if location == "" && len(args) > after {
		location, args = args[0], args[1:]
	}
	if location == "" && hasDefaultConfig() {
		p.config, location = defaultConfig, defaultConfig
	}
	switch {
	case location == "":
		return "", nil, usageError{fmt.Errorf("%s: there is no %s in the working directory: give a configuration with --config FILE, or an OpenAPI document's path or URL", c.CommandPath(), defaultConfig), c}
	case len(args) > after:
		return "", nil, usageError{fmt.Errorf("%s: unexpected argument %q", c.CommandPath(), args[after]), c}
	}
	return location, args, nil
}

// noArguments rejects arguments of a command that takes none; cobra would call them unknown
// commands.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("%s: unexpected argument %q", c.CommandPath(), args[0]), c}
}

// load loads the configuration and prints its problems; errors end the program with exit code 2.
func (p *program) load(location string) (*config.Config, error) {
	c, problems := config.LoadWith(location, p.getenv, p.loadOptions())
	p.print(problems)
	if c == nil {
		return nil, exitError(exitUsage)
	}
	return c, nil
}

// loadOptions returns what flags say of the configuration.
func (p *program) loadOptions() config.LoadOptions {
	return config.LoadOptions{WithoutSecrets: p.noSecrets, BaseURL: p.baseURL}
}

func (p *program) print(problems config.Problems) {
	for _, problem := range problems {
		fmt.Fprintln(p.stderr, problem)
	}
}

// usageError is a usage or configuration error: exit code 2. The command, if any, is the one whose
// help is suggested.
type usageError struct {
	error
	command *cobra.Command
}

func (e usageError) Unwrap() error { return e.error }

// exitError ends the program with an exit code; everything has been printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
