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

func versionText() string {
	return fmt.Sprintf("drawbridge %s\ncommit %s\n%s %s/%s\nMCP revisions %s\n",
		version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(gateway.Revisions(), ", "))
}
