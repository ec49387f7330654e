package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Getenv, os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "launchers:", err)
		}
		os.Exit(1)
	}
}

// release is what all packages of a release share.
type release struct {
	Version string // a semantic version
	NPM     string // the name of the package at npm, possibly with a scope
	PyPI    string // the name of the package at PyPI
	Time    time.Time
	License []byte // of the first archive
}

// file is a package to write.
type file struct {
	Name string
	Data []byte
}

// Names as registries accept them. Both are part of file names.
var (
	npmName  = regexp.MustCompile(`^(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)
	pypiName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)
)

func run(args []string, getenv func(string) string, stdout io.Writer) error {
	var r release
	var dir string
	f := flag.NewFlagSet("launchers", flag.ContinueOnError)
	f.StringVar(&r.Version, "version", "", "the `version` of the release")
	f.StringVar(&r.NPM, "npm", "drawbridge", "the `name` of the package at npm, such as @acme/drawbridge")
	f.StringVar(&r.PyPI, "pypi", "drawbridge", "the `name` of the package at PyPI")
	f.StringVar(&dir, "out", "out/release", "the `folder` to write to")
	if err := f.Parse(args); err != nil {
		return err
	}
	if r.Version == "" || f.NArg() == 0 {
		return errors.New("usage: launchers -version VERSION [flags] ARCHIVE…")
	}
	var errs []error
	if !npmName.MatchString(r.NPM) {
		errs = append(errs, fmt.Errorf("-npm %q: expected a name in lower case, such as drawbridge or @acme/drawbridge", r.NPM))
	}
	if !pypiName.MatchString(r.PyPI) {
		errs = append(errs, fmt.Errorf("-pypi %q: expected letters, digits, and - _ . between them", r.PyPI))
	}
	seconds, err := strconv.ParseInt(getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		errs = append(errs, fmt.Errorf("SOURCE_DATE_EPOCH %q: expected the seconds since 1970 of the last commit", getenv("SOURCE_DATE_EPOCH")))
	}
	r.Time = time.Unix(seconds, 0).UTC()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	programs, err := r.programs(f.Args())
	if err != nil {
		return err
	}
	files, err := r.packages(programs)
	if err != nil {
		return err
	}
	for _, one := range files {
		if err := os.WriteFile(filepath.Join(dir, one.Name), one.Data, 0o644); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(stdout, one.Name); err != nil {
			return err
		}
	}
	return nil
}

// packages returns the packages of both registries.
func (r *release) packages(programs map[platform][]byte) ([]file, error) {
	var files []file
	launcher, err := r.npmLauncher()
	if err != nil {
		return nil, err
	}
	files = append(files, launcher)
	for _, p := range platforms {
		carrier, err := r.npmCarrier(p, programs[p])
		if err != nil {
			return nil, err
		}
		wheel, err := r.wheel(p, programs[p])
		if err != nil {
			return nil, err
		}
		files = append(files, carrier, wheel)
	}
	return files, nil
}
