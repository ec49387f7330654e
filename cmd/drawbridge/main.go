// Command drawbridge serves REST services that have an OpenAPI document as MCP tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // conditions may use time zones, and the image has no files of them

	"github.com/spf13/cobra"
)

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdout, os.Stderr, signals))
}

// run is the whole program with its environment as parameters, for tests.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer, signals <-chan os.Signal) int {
	p := newProgram(getenv, stdout, stderr, signals)
	root := newRoot(p)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var usage usageError
	var exit exitError
	switch {
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &usage):
		fmt.Fprintln(p.stderr, err)
		if usage.command != nil {
			fmt.Fprintf(p.stderr, "See '%s --help'.\n", usage.command.CommandPath())
		}
		return exitUsage
	case ctx.Err() == nil && isUnknownCommand(err):
		fmt.Fprintf(p.stderr, "%v\nSee 'drawbridge --help'.\n", err)
		return exitUsage
	}
	fmt.Fprintf(p.stderr, "drawbridge: %v\n", err)
	return exitFail
}

// newRoot returns the command line.
func newRoot(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "drawbridge",
		Short: "An MCP gateway for REST services with an OpenAPI document",
		Long: `drawbridge reads OpenAPI documents, makes an MCP tool of each operation, and serves the tools at /mcp.
Each tools/call becomes one HTTP request to the service behind it; the service needs no changes.

Begin with:
  drawbridge demo                                         see it work, without any setup
  drawbridge init https://orders.internal/openapi.json    write a configuration for a document
  drawbridge check https://orders.internal/openapi.json   see what would be served of a document
  drawbridge serve --config drawbridge.yaml               serve

A configuration is a YAML file; the smallest one is a list of documents:
  - https://orders.internal/openapi.json
  - https://billing.internal/v2/swagger.yaml
Commands accept the URL or path of a document instead of a configuration.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	addVersionFlag(root)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{err, c}
	})
	addGroup(root, "serve", "Serve:", p.demoCommand(), p.initCommand(), p.serveCommand(), p.stdioCommand())
	addGroup(root, "look", "See what is served, and try it:", p.checkCommand(), p.toolsCommand(), p.tokensCommand(), p.scoreCommand(), p.callCommand())
	addGroup(root, "operate", "Operate:", p.keyCommand(), p.uploadCommand(), p.lockCommand(), p.accountCommand(), p.manifestCommand(), p.driftCommand(), p.readyCommand())
	root.AddCommand(p.manCommand(), p.versionCommand())
	strictHelp(root)
	return root
}

// addGroup adds commands below a heading of the list of commands.
func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// isUnknownCommand recognizes cobra's error for an unknown command, which has no type.
func isUnknownCommand(err error) bool { return strings.HasPrefix(err.Error(), "unknown command") }

// strictHelp makes help for an unknown command a usage error, which cobra treats as a success.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		show := help.Run
		help.RunE = func(c *cobra.Command, args []string) error {
			if topic, rest, err := root.Find(args); err != nil || topic == nil || len(rest) > 0 {
				return usageError{fmt.Errorf("help: there is no command %q", strings.Join(args, " ")), root}
			}
			show(c, args)
			return nil
		}
	}
}
