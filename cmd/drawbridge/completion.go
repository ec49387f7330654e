package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
)

// completionTime is how long names may take: a shell waits with each press of the key.
const completionTime = 2 * time.Second

// completer proposes words for a shell.
type completer = cobra.CompletionFunc

// complete makes a function propose the values of a flag.
func complete(c *cobra.Command, flag string, f completer) {
	_ = c.RegisterFlagCompletionFunc(flag, f) // it fails for a flag that does not exist, which a test would find
}

// fixedValues proposes words.
func fixedValues(words ...string) completer {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// configFiles proposes files that can be a configuration or a document.
func configFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeDocument proposes files for the one argument of a command.
func completeDocument(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || c.Flags().Changed("config") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return configFiles(c, args, word)
}

// completeCall proposes the tools of the configuration, or of the document before them. Without any it proposes files.
func (p *program) completeCall(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	location := p.completionLocation(c)
	switch {
	case len(args) == 1 && (location == "" || !looksLikeTool(args[0])):
		location = args[0]
	case len(args) > 0 || location == "":
		return nil, cobra.ShellCompDirectiveDefault // arguments may be @FILE
	}
	var words []string
	for _, plan := range p.completionPlans(c.Context(), location) {
		words = append(words, cobra.CompletionWithDesc(plan.Tool.Name, oneLine(plan.Tool.Title)))
	}
	return words, cobra.ShellCompDirectiveDefault
}

// looksLikeTool reports whether a word can't be a file or URL.
func looksLikeTool(word string) bool { return !strings.ContainsAny(word, "./:") }

// completeFilter proposes APIs, tags and names for --filter.
func (p *program) completeFilter(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	location := p.completionLocation(c)
	if location == "" && len(args) > 0 {
		location = args[0]
	}
	var words []string
	for _, plan := range p.completionPlans(c.Context(), location) {
		words = append(words, plan.Tool.Name, "api="+plan.Source.Name)
		for _, tag := range plan.Tool.Tags {
			words = append(words, "tag="+oneLine(tag))
		}
	}
	slices.Sort(words)
	return slices.Compact(words), cobra.ShellCompDirectiveNoFileComp
}

// completeEndpoint proposes the endpoints of the configuration.
func (p *program) completeEndpoint(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	cfg, err := p.silent().load(p.completionLocation(c))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for i := range cfg.Endpoints {
		words = append(words, cfg.Endpoints[i].Name)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completionLocation returns the configuration of the command line, that of the working directory, or "".
func (p *program) completionLocation(c *cobra.Command) string {
	if location, err := c.Flags().GetString("config"); err == nil && location != "" {
		return location
	}
	if hasDefaultConfig() {
		return defaultConfig
	}
	return ""
}

// silent returns a program that prints nothing and needs no secrets.
func (p *program) silent() *program {
	return &program{getenv: p.getenv, stdout: io.Discard, stderr: io.Discard, noSecrets: true}
}

// completionPlans returns the tools, or none if they can't be had in time or at all. Documents are read like those of check:
// those that can't be read are left out.
func (p *program) completionPlans(ctx context.Context, location string) []*gateway.Plan {
	if location == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	loaded := make(chan []*gateway.Plan, 1)
	go func() { // the program ends without it: compiling a large document does not look at the context
		g, _, err := p.silent().loadOnce(ctx, location, gateway.Options{})
		if err != nil {
			loaded <- nil
			return
		}
		loaded <- g.Plans()
	}()
	select {
	case plans := <-loaded:
		return plans
	case <-ctx.Done():
		return nil
	}
}
