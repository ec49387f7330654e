package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the man pages, one for each command",
		Long: `Man writes drawbridge.1 and a page for each command, such as drawbridge-serve.1, into a directory, which it makes if there is
none. The pages have the text of --help, and no date, so that the same version gives the same bytes.`,
		Example: `  drawbridge man /usr/local/share/man/man1
  drawbridge man out && man out/drawbridge-serve.1`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("%s: give the directory to write to", c.CommandPath()), c}
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			for _, page := range manPages(c.Root()) {
				if err := os.WriteFile(filepath.Join(args[0], page.name+".1"), []byte(page.text()), 0o644); err != nil {
					return fmt.Errorf("man: %w", err)
				}
			}
			return nil
		},
	}
}

// manPage is the page of one command.
type manPage struct {
	name    string
	command *cobra.Command
}

// manPages returns the pages of a command and of all below it.
func manPages(c *cobra.Command) []manPage {
	pages := []manPage{{strings.ReplaceAll(c.CommandPath(), " ", "-"), c}}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			pages = append(pages, manPages(below)...)
		}
	}
	return pages
}

// text returns the page in the macros of man(7). Help texts are taken as they are laid out: they are no Markdown.
func (m manPage) text() string {
	c := m.command
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"drawbridge\"\n", strings.ToUpper(m.name), "drawbridge "+version)
	b.WriteString(".nh\n.ad l\n") // without hyphens in names of commands, and without gaps between words
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	verbatim := func(text string) { fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(strings.Trim(text, "\n"))) }
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(m.name), roff(c.Short))
	section("SYNOPSIS")
	usage := c.UseLine()
	if c.HasAvailableSubCommands() && !c.Runnable() {
		usage = c.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, ".B %s\n", roff(usage))
	section("DESCRIPTION")
	description := c.Long
	if description == "" {
		description = c.Short + "."
	}
	for i, paragraph := range strings.Split(description, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.Contains("\n"+paragraph, "\n ") { // a list or an example
			verbatim(paragraph)
			continue
		}
		b.WriteString(roff(paragraph) + "\n")
	}
	if below := manPages(c)[1:]; len(below) > 0 {
		section("COMMANDS")
		for _, page := range below {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(page.command.CommandPath()), roff(page.command.Short))
		}
	}
	if c.HasAvailableLocalFlags() {
		section("OPTIONS")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { b.WriteString(manOption(f)) })
	}
	if c.Example != "" {
		section("EXAMPLES")
		verbatim(c.Example)
	}
	m.seeAlso(&b, section)
	return b.String()
}

// manOption returns the paragraph of a flag.
func manOption(f *pflag.Flag) string {
	if f.Hidden {
		return ""
	}
	value, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value != "" {
		name += " " + value
	}
	switch f.DefValue {
	case "", "false", "0":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	return fmt.Sprintf(".TP\n.B %s\n%s\n", roff(name), roff(usage))
}

// seeAlso names the pages around.
func (m manPage) seeAlso(b *strings.Builder, section func(string)) {
	var pages []string
	if m.command.HasParent() {
		pages = append(pages, strings.ReplaceAll(m.command.Parent().CommandPath(), " ", "-"))
	}
	for _, page := range manPages(m.command)[1:] {
		pages = append(pages, page.name)
	}
	if len(pages) == 0 {
		return
	}
	section("SEE ALSO")
	for i, page := range pages {
		comma := " ,"
		if i == len(pages)-1 {
			comma = ""
		}
		fmt.Fprintf(b, ".BR %s (1)%s\n", roff(page), comma)
	}
}

// roff escapes a text for roff: backslashes, hyphens, and what would be a request at the begin of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\[u2026]`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
