package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "prism: %v\n", err)
		stop()
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	packages string
	corpus   string
	only     string
	sample   int
	each     int
	calls    int
	// generated is how often each tool is called with generated arguments; 0: the arguments are plain and examples.
	generated int
	seed      uint64
	patience  time.Duration
	markdown  bool
	verbose   bool
	overlays  string
}

// run judges and prints the table. The error says that a target was missed, or why nothing was judged.
func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("prism", flag.ContinueOnError)
	flags.StringVar(&o.packages, "packages", ".", "folder with the scripts and node_modules")
	flags.StringVar(&o.corpus, "corpus", os.Getenv("OPENAPI_CORPUS"), "folder of documents; with INDEX.md, the entry files that it lists")
	flags.StringVar(&o.only, "only", "", "take only documents with this in their name")
	flags.IntVar(&o.sample, "sample", 0, "call so many operations, chosen by the seed from documents of at most 1 MB; 0: all of all")
	flags.IntVar(&o.each, "each", 0, "call so many operations of each document, chosen by the seed; 0: all")
	flags.IntVar(&o.calls, "calls", 2, "argument sets for each operation")
	flags.IntVar(&o.generated, "generated", 0, "call each tool so often with arguments generated from its published schema, at its edges and without its examples, and count calls; 0: plain arguments and examples, and count operations")
	flags.StringVar(&o.overlays, "overlays", "", "folder of overlays, FILE.overlay.yaml for a document FILE, that the gateway applies")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of sample and arguments; 0: a new one")
	flags.DurationVar(&o.patience, "patience", 0, "how long Prism may take to load a document; 0: 3m, or 25s for a sample")
	flags.BoolVar(&o.markdown, "markdown", false, "print the table as markdown")
	flags.BoolVar(&o.verbose, "v", false, "print everything that was not accepted and answered")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.generated > 0 {
		o.calls = o.generated
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	if o.patience == 0 {
		o.patience = 3 * time.Minute
		if o.sample > 0 {
			o.patience = 25 * time.Second
		}
	}
	if o.corpus == "" {
		o.corpus = filepath.FromSlash("openapi/testdata/corpus")
	}
	names, err := documents(o)
	if err != nil {
		return err
	}
	// The gateway reads documents by URL: there parts may stand anywhere on the origin, of a file only below it.
	files := httptest.NewServer(http.FileServer(http.Dir(o.corpus)))
	defer files.Close()
	fmt.Fprintf(out, "judge Prism: seed %d, %d calls an operation\n", o.seed, o.calls)
	began := time.Now()
	var judged interface {
		add(o outcome)
		print(share float64) error // the error says that a smaller share, in per cent, was accepted
	} = &report{out: out, markdown: o.markdown, verbose: o.verbose}
	if o.generated > 0 {
		judged = &callReport{out: out, markdown: o.markdown, verbose: o.verbose}
	}
	left := o.sample
	for i, name := range names {
		most := o.each // of this document; 0: all
		if o.sample > 0 {
			if most = min(left, cmp.Or(o.each, fromOne)); most == 0 {
				break
			}
		}
		d := document{file: filepath.Join(o.corpus, name), url: files.URL + "/" + filepath.ToSlash(name)}
		outcome := judge(ctx, o, d, most, rand.New(rand.NewPCG(o.seed, o.stream(i, name))))
		if err := ctx.Err(); err != nil {
			return err
		}
		judged.add(outcome)
		left -= outcome.sampled
	}
	share := 99.0 // per cent of the operations
	switch {
	case o.generated > 0:
		share = 99.5 // per cent of the calls
	case o.sample > 0 || o.each > 0:
		share = 97 // in a sample it is chance too
	}
	err = judged.print(share)
	fmt.Fprintf(out, "seed %d, %.0f s\n", o.seed, time.Since(began).Seconds())
	return err
}

// fromOne is how many operations of a sample come from one document: a start of Prism takes longer than many calls.
const fromOne = 25

// stream is the part of the seed that is a document's own. Generated arguments of a document don't depend on which others
// are judged.
func (o options) stream(i int, name string) uint64 {
	if o.generated == 0 {
		return uint64(i)
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, filepath.ToSlash(name)) // never fails
	return h.Sum64()
}

// document is one document, for Prism and for the gateway.
type document struct{ file, url string }

// documents lists what is judged as paths below the corpus: in their order, or for a sample in one of the seed's.
func documents(o options) ([]string, error) {
	var found []string
	if index, err := os.ReadFile(filepath.Join(o.corpus, "INDEX.md")); err == nil {
		for line := range strings.Lines(string(index)) {
			if cells := strings.Split(line, "|"); len(cells) > 2 {
				found = append(found, filepath.FromSlash(strings.TrimSpace(cells[1])))
			}
		}
	} else {
		entries, err := os.ReadDir(o.corpus)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			found = append(found, e.Name())
		}
	}
	found = slices.DeleteFunc(found, func(name string) bool {
		info, err := os.Stat(filepath.Join(o.corpus, name))
		wrong := err != nil || !info.Mode().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
		return wrong || !strings.Contains(name, o.only) || o.sample > 0 && info.Size() > 1<<20
	})
	if len(found) == 0 {
		return nil, fmt.Errorf("there are no documents in %s", o.corpus)
	}
	if o.sample > 0 {
		r := rand.New(rand.NewPCG(o.seed, 1<<32))
		r.Shuffle(len(found), func(i, k int) { found[i], found[k] = found[k], found[i] })
	}
	return found, nil
}
