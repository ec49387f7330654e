package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// certificates is where Debian and most others keep the system's CA bundle.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

// options are the flags.
type options struct {
	binaries          []string
	out, bundle       string
	version, revision string
}

// run returns the exit code: 0 written, 1 failed, 2 wrong flags.
func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	var o options
	f := flag.NewFlagSet("image", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Func("binary", "the static Linux `program` (make build); again for each further processor (default bin/drawbridge)", func(path string) error {
		o.binaries = append(o.binaries, path)
		return nil
	})
	f.StringVar(&o.out, "out", "bin/drawbridge-image.tar", "the `file` to write")
	f.StringVar(&o.bundle, "ca", "", "the PEM `file` of CA certificates (default $SSL_CERT_FILE, else "+certificates+")")
	f.StringVar(&o.version, "version", "", "the version that the image's label names")
	f.StringVar(&o.revision, "revision", "", "the commit that the image's label names; its time is $SOURCE_DATE_EPOCH, else 1970")
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
	if len(o.binaries) == 0 {
		o.binaries = []string{"bin/drawbridge"}
	}
	o.bundle = cmp.Or(o.bundle, getenv("SSL_CERT_FILE"), certificates)
	created, err := epoch(getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		fmt.Fprintf(stderr, "image: %v\n", err)
		return 2
	}
	im, err := write(o, created)
	if err != nil {
		fmt.Fprintf(stderr, "image: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "%s\n  digest %s\n  sha256 %x\n", o.out, im.digest, sha256.Sum256(im.archive))
	for _, v := range im.variants {
		fmt.Fprintf(stdout, "  %s/%s as user %s: %.1f MB compressed, %s\n", v.OS, v.Architecture, user, float64(v.size)/1e6, v.digest)
	}
	return 0
}

// epoch is when the sources were last changed (https://reproducible-builds.org/specs/source-date-epoch/).
func epoch(text string) (time.Time, error) {
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, no number of seconds", text)
	}
	return time.Unix(n, 0).UTC(), nil
}

// write builds the image and puts it at its place, whole or not at all.
func write(o options, created time.Time) (*image, error) {
	var programs [][]byte
	for _, path := range o.binaries {
		program, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("no program at %q; make build makes it", path)
		}
		if err != nil {
			return nil, err
		}
		programs = append(programs, program)
	}
	roots, err := os.ReadFile(o.bundle)
	if err != nil {
		return nil, fmt.Errorf("read CA certificates: %w; name another file with -ca", err)
	}
	im, err := build(programs, roots, origin{o.version, o.revision, created})
	if err != nil {
		return nil, fmt.Errorf("image of %q: %w", strings.Join(o.binaries, ", "), err)
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return nil, err
	}
	return im, replace(o.out, im.archive)
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
