package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
	"drawbridge/gateway"
)

func (p *program) lockCommand() *cobra.Command {
	var check bool
	var file string
	c := &cobra.Command{
		Use:   "lock --config FILE",
		Short: "Approve the current tools: write the file of tools.lock",
		Long: `Lock reads all documents and writes the file that is configured as tools.lock: for each tool its method and path, and
digests of its texts and schemas, of its requests (server, location and encoding of the arguments), of its access (tags,
security requirements, trusted extensions), and of its documented responses. A gateway with tools.lock serves only the tools
in the file: a tool that is new, or has changed in any of these, is held back until it is approved by this command.

It prints what it approves. Keep the file beside the configuration, under version control, and review the changes.
An API that can't be read keeps its earlier approvals. A running gateway reloads the file when it changes.

A new version of drawbridge may publish schemas in another form: run it with --check before you deploy it.

Exit codes: 0 on success; 1 with --check if anything differs, and nothing is written; 1 if an API can't be read; 2 on bad
usage or configuration.`,
		Example: `  drawbridge lock --config drawbridge.yaml --check
  drawbridge lock --config drawbridge.yaml && git diff drawbridge.lock`,
	}
	p.configFlag(c)
	c.Flags().BoolVar(&check, "check", false, "write nothing, and exit with 1 if anything differs")
	p.wideFlag(c)
	c.Flags().StringVar(&file, "file", "", "file to write (default: tools.lock of the configuration)")
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		return p.lock(c, location, file, check)
	})
	return c
}

// lock approves the current tools in a file, that of tools.lock if none is given. With check it only reports what differs.
func (p *program) lock(c *cobra.Command, location, file string, check bool) error {
	g, outcomes, err := p.loadTools(c.Context(), location, gateway.Options{Unlocked: true})
	if err != nil {
		return err
	}
	if file == "" {
		file = g.Config().Tools.Lock.String()
	}
	if file == "" {
		return usageError{errors.New("lock: set tools.lock in the configuration, or give --file"), c}
	}
	before, err := config.ReadLock(file)
	if errors.Is(err, fs.ErrNotExist) {
		before, err = config.NewLock(nil), nil
	}
	if err != nil {
		return usageError{err, nil}
	}
	now, failed := p.approvable(g.Lock(), before, outcomes)
	changes := changesOf(before, now, g)
	old := before.Unknown() != ""
	keep := old && failed // the approvals of an API that can't be read do not fit a new file version
	if old {
		fmt.Fprintf(p.stderr, "%s: is of version %d, which does not approve %s as this version of drawbridge does: changes of these since it was written are unknown\n",
			file, before.Version, before.Unknown())
	}
	if err := p.printChanges(changes, len(now.Tools())); err != nil {
		return err
	}
	if keep {
		fmt.Fprintf(p.stderr, "%s: is not changed, because not all APIs could be read\n", file)
	}
	if !check && !keep && (len(changes) > 0 || old || !exists(file)) {
		if err := c.Context().Err(); err != nil { // an interrupted command approves nothing
			return err
		}
		if err := replaceFile(file, now.Encode()); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
	}
	if failed || check && (len(changes) > 0 || old) {
		return exitError(exitFail)
	}
	return nil
}

// approvable returns the tools to approve: those of all APIs that were read, and the earlier
// approvals of the others.
func (p *program) approvable(now, before *config.Lock, outcomes []gateway.Outcome) (_ *config.Lock, failed bool) {
	read := map[string]bool{}
	for _, o := range outcomes {
		if o.Err != nil {
			fmt.Fprintf(p.stderr, "%s: can't be read, and keeps its earlier approvals: %v\n", o.Name, o.Err)
			failed = true
			continue
		}
		read[o.Name] = true
	}
	tools := now.Tools()
	if failed { // the name of a tool may not reveal its API
		for _, t := range before.Tools() {
			if _, known := now.Of(t.Name); !known && !read[t.API] {
				tools = append(tools, t)
			}
		}
	}
	return config.NewLock(tools), failed
}

// change is a difference of one tool.
type change struct {
	what string // added, changed, removed or renamed
	tool config.LockedTool
	how  string
}

// changesOf returns the differences between two locks, by name; now is that of g.
func changesOf(before, now *config.Lock, g *gateway.Gateway) []change {
	var changes []change
	renamed := map[string]bool{}
	for _, t := range now.Tools() {
		approved, ok := before.Approval(t)
		differs := t.Differs(approved)
		switch {
		case !ok:
			changes = append(changes, change{"added", t, t.Title})
		case approved.Name != t.Name, approved.API == t.FormerAPI && t.FormerAPI != "":
			renamed[approved.Name] = true
			was := "was " + approved.Name + " of " + approved.API
			if approved.Name != t.Name && staysCallable(g, approved.Name, t.Name) {
				was += ", which stays callable"
			}
			changes = append(changes, change{"renamed", t, strings.Join(append([]string{was}, differs...), ", ")})
		case len(differs) > 0:
			changes = append(changes, change{"changed", t, strings.Join(differs, ", ")})
		}
	}
	for _, t := range before.Tools() {
		if _, ok := now.Of(t.Name); !ok && !renamed[t.Name] {
			changes = append(changes, change{"removed", t, t.Title})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return strings.Compare(a.tool.Name, b.tool.Name) })
	return changes
}

func (p *program) printChanges(changes []change, all int) error {
	if len(changes) == 0 {
		fmt.Fprintf(p.stdout, "nothing has changed: %s\n", count(all, "tool"))
		return nil
	}
	table := terminal.Table{Width: p.tableWidth(), Flexible: []int{4, 3, 1}}
	table.Row("CHANGE", "TOOL", "METHOD", "PATH", "WHAT")
	counts := map[string]int{}
	for _, c := range changes {
		counts[c.what]++
		table.Row(c.what, c.tool.Name, c.tool.Method, oneLine(c.tool.Path), oneLine(c.how))
	}
	if _, err := table.WriteTo(printable{p.stdout}); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s: %d added, %d changed, %d removed", count(all, "tool"), counts["added"], counts["changed"], counts["removed"])
	if n := counts["renamed"]; n > 0 {
		fmt.Fprintf(p.stdout, ", %d renamed", n)
	}
	fmt.Fprintln(p.stdout)
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// replaceFile replaces a file atomically, also if the machine fails. A symbolic link is kept, and
// its target replaced.
func replaceFile(file string, text []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".drawbridge-lock-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(0o644) // readable like the configuration, and without secrets
	}
	if err == nil {
		err = f.Sync() // otherwise the new name may have no content after a crash, and a gateway without its lock doesn't start
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
