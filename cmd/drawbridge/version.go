package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit and the protocol revisions", Args: noArguments,
		Example: "  drawbridge version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(p.stdout, versionText())
			return err
		},
	}
}

// addVersionFlag adds --version, which prints what the command version prints. Cobra's own flag prints a template, which the program has no
// package for (docs/contributing/adr/0062). A root command that runs nothing shows its help: that is where the flag is looked at.
func addVersionFlag(root *cobra.Command) {
	asked := root.Flags().BoolP("version", "v", false, "version for drawbridge")
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root && *asked && !c.Flags().Changed("help") {
			_, _ = fmt.Fprint(c.OutOrStdout(), versionText())
			return
		}
		help(c, args)
	})
}

func versionText() string {
	return fmt.Sprintf("drawbridge %s\ncommit %s\n%s %s/%s\nMCP revisions %s\n",
		version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(gateway.Revisions(), ", "))
}
