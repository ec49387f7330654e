package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// certificates is where Debian and most others keep the system's CA bundle.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

// run returns the exit code: 0 written, 1 failed, 2 wrong flags.
func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	var binary, out, bundle string
	f := flag.NewFlagSet("image", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&binary, "binary", "bin/drawbridge", "the static Linux `program` (make build)")
	f.StringVar(&out, "out", "bin/drawbridge-image.tar", "the `file` to write")
	f.StringVar(&bundle, "ca", "", "the PEM `file` of CA certificates (default $SSL_CERT_FILE, else "+certificates+")")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "image: unexpected argument %q\n", f.Arg(0))
		return 2
	}
	im, err := write(binary, cmp.Or(bundle, getenv("SSL_CERT_FILE"), certificates), out)
	if err != nil {
		fmt.Fprintf(stderr, "image: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "%s\n  size   %.1f MB\n  digest %s\n  for    %s/%s, as user %s\n",
		out, float64(len(im.archive))/1e6, im.digest, im.os, im.arch, user)
	return 0
}

// write builds the image and puts it at out, whole or not at all.
func write(binary, bundle, out string) (*image, error) {
	program, err := os.ReadFile(binary)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no program at %q; make build makes it", binary)
	}
	if err != nil {
		return nil, err
	}
	roots, err := os.ReadFile(bundle)
	if err != nil {
		return nil, fmt.Errorf("read CA certificates: %w; name another file with -ca", err)
	}
	im, err := build(program, roots)
	if err != nil {
		return nil, fmt.Errorf("image of %q: %w", binary, err)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return nil, err
	}
	return im, replace(out, im.archive)
}

// replace writes a file under another name and then renames it.
func replace(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone after the renaming
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
