package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Getenv, os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "sbom:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, getenv func(string) string, stdout io.Writer) error {
	var version, commit, image, dir string
	f := flag.NewFlagSet("sbom", flag.ContinueOnError)
	f.StringVar(&version, "version", "dev", "the version of the program")
	f.StringVar(&commit, "commit", "", "the commit that it was made of")
	f.StringVar(&image, "image", "", "the image's `file`, which becomes a subject of the provenance")
	f.StringVar(&dir, "out", "bin", "the `folder` to write to")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return errors.New("usage: sbom [flags] BINARY…")
	}
	seconds, err := strconv.ParseInt("0"+getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	created := time.Unix(seconds, 0)
	licenses, err := found()
	if err != nil {
		return err
	}
	var subjects []resource
	if image != "" {
		data, err := os.ReadFile(image)
		if err != nil {
			return err
		}
		subjects = append(subjects, subject(image, data))
	}
	var first *buildinfo.BuildInfo
	for _, path := range f.Args() {
		binary, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := buildinfo.Read(bytes.NewReader(binary))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		b := inventory(info, binary, version, created, licenses)
		name := filepath.Join(dir, "drawbridge-"+setting(info, "GOARCH")+".cdx.json")
		if err := save(name, b); err != nil {
			return err
		}
		unknown := []string{}
		for _, c := range b.Components {
			if c.Licenses == nil {
				unknown = append(unknown, c.Name)
			}
		}
		fmt.Fprintf(stdout, "%s: %d components, licence not recognized of %d %s\n", name, len(b.Components), len(unknown), strings.Join(unknown, " "))
		s := subject(path, binary)
		s.Name += "-" + setting(info, "GOARCH")
		subjects = append(subjects, s)
		if first == nil {
			first = info
		}
	}
	name := filepath.Join(dir, "drawbridge.provenance.json")
	fmt.Fprintf(stdout, "%s: %d subjects\n", name, len(subjects))
	return save(name, provenance(first, subjects, version, commit, created))
}

func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

func save(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// found returns the licences of the modules in the module cache by their paths.
func found() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{with .Replace}}{{.Path}}\t{{.Dir}}{{else}}{{.Path}}\t{{.Dir}}{{end}}", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m all: %w", err)
	}
	licenses := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if dir != "" {
			licenses[path] = licenseOf(dir)
		}
	}
	return licenses, nil
}
