package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "package:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	var p parameters
	f := flag.NewFlagSet("package", flag.ContinueOnError)
	f.StringVar(&p.Program, "program", "", "the program's `file`")
	f.StringVar(&p.Arch, "arch", "", "the processor that it is for, as Go names it")
	f.StringVar(&p.Version, "version", "", "the version of the package")
	f.StringVar(&p.Date, "date", "", "the time of all files (RFC 3339)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 || p.Program == "" || p.Arch == "" || p.Version == "" || p.Date == "" {
		return errors.New("usage: package -program FILE -arch ARCH -version VERSION -date TIME .goreleaser.yaml")
	}
	text, err := os.ReadFile(f.Arg(0))
	if err != nil {
		return err
	}
	out, err := nfpmConfig(text, p)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Arg(0), err)
	}
	_, err = stdout.Write(out)
	return err
}
