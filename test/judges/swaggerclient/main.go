package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	node, packages string
	corpus         string
	documents      []string
	sample, calls  int
	seed           uint64
	workers        int
	markdown       bool
	verbose        bool
	show           int
	binary         string
	operation      string
	overlays       string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "swagger-client judge:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	flags := flag.NewFlagSet("swaggerclient", flag.ContinueOnError)
	flags.StringVar(&o.node, "node", "node", "Node.js, 22 or later")
	flags.StringVar(&o.packages, "packages", ".", "folder with build.mjs and node_modules")
	flags.StringVar(&o.corpus, "corpus", os.Getenv("OPENAPI_CORPUS"), "folder of documents; with INDEX.md, the entry files that it lists")
	flags.IntVar(&o.sample, "sample", 0, "compare this many operations, chosen by the seed; 0: all")
	flags.IntVar(&o.calls, "calls", 4, "argument sets for each operation: the first half plain, the others with values at the edges")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of sample and arguments; 0: a new one")
	flags.IntVar(&o.workers, "workers", 2, "processes of Node.js")
	flags.BoolVar(&o.markdown, "markdown", false, "print the tables as markdown")
	flags.BoolVar(&o.verbose, "v", false, "print every explained difference too")
	flags.IntVar(&o.show, "show", 30, "print at most this many differences that are not explained")
	flags.StringVar(&o.binary, "binary", "", "the gateway's binary; a few calls go through its call --dry-run")
	flags.StringVar(&o.overlays, "overlays", "", "folder of overlays, FILE.overlay.yaml for a document FILE, that the gateway applies")
	flags.StringVar(&o.operation, "operation", "", `compare this operation alone, "GET /path"`)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.documents = flags.Args(); len(o.documents) == 0 {
		o.documents = small
		if o.corpus != "" {
			var err error
			if o.documents, err = listed(o.corpus); err != nil {
				return err
			}
		}
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	fmt.Fprintf(stdout, "judge swagger-client: seed %d, %d calls an operation\n", o.seed, o.calls)
	began := time.Now()
	results, err := judge(ctx, &o, stdout)
	if err != nil {
		return err
	}
	r := summarize(results, o.sample == 0 && o.operation == "")
	r.print(stdout, o.markdown)
	fmt.Fprintf(stdout, "seed %d, %.0f s\n", o.seed, time.Since(began).Seconds())
	return r.verdict()
}

// small are the documents for want of a corpus.
var small = []string{"openapi/testdata/corpus/*", "test/judges/swaggerclient/testdata/*.yaml"}

// listed returns the entry files of a folder of documents.
func listed(dir string) ([]string, error) {
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.md"))
	if errors.Is(err, os.ErrNotExist) {
		return []string{filepath.Join(dir, "*")}, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(index)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			name := filepath.Join(dir, filepath.FromSlash(strings.TrimSpace(cells[1])))
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// source makes the random numbers of one operation: they depend on the seed and the operation alone, so that a sample and
// a full run make the same arguments.
func source(seed uint64, words ...string) *rand.Rand {
	var h uint64 = 14695981039346656037 // FNV-1a
	for _, w := range words {
		for _, b := range []byte(w) {
			h = (h ^ uint64(b)) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}
