package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
	"drawbridge/gateway"
)

func (p *program) initCommand() *cobra.Command {
	i := &initialization{program: p}
	c := &cobra.Command{
		Use:   "init [DOCUMENT]",
		Short: "Write a commented drawbridge.yaml for an OpenAPI document",
		Long: `Init reads an OpenAPI document, from a URL or a file, and writes a configuration for it, with comments and the settings that
are most often changed. Without DOCUMENT it asks for three things: the document, how callers authenticate, and the environment
variable with the credential for the API. Answers may be piped, one a line; an empty line takes the default.
With DOCUMENT it asks nothing: callers need no token and the API gets no credential, unless --issuer and --credential say so. What
the document requires then stands in a comment.

Secrets never come into the file: it names the environment variables that hold them. An existing file is kept unless --force is
given. The file passes 'drawbridge check', which needs the environment variables that it names.

Exit codes: 0 on success, 1 if the document can't be read, 2 on bad usage, a bad answer, or if the file exists.`,
		Example: `  drawbridge init
  drawbridge init https://orders.internal/openapi.json
  drawbridge init --issuer https://idp.example.com/realms/acme --credential ORDERS_KEY openapi.yaml
  printf 'openapi.yaml\n\nORDERS_KEY\n' | drawbridge init --output orders.yaml`,
		ValidArgsFunction: completeDocument,
	}
	c.Flags().StringVarP(&i.output, "output", "o", defaultConfig, "`FILE` to write")
	c.Flags().BoolVar(&i.force, "force", false, "replace an existing file")
	c.Flags().StringVar(&i.issuer, "issuer", "", "`URL` of the authorization server whose tokens callers need")
	c.Flags().StringVar(&i.variable, "credential", "", "`VARIABLE` of the environment that holds the credential for the API")
	p.baseURLFlag(c)
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{fmt.Errorf("%s: unexpected argument %q", c.CommandPath(), args[1]), c}
		}
		if len(args) == 1 {
			i.document = args[0]
		}
		if _, err := os.Lstat(i.output); err == nil && !i.force {
			return usageError{fmt.Errorf("init: %s exists: give --force to replace it, or another file with --output", i.output), nil}
		}
		i.answers = bufio.NewReader(c.InOrStdin())
		i.asked = i.document == ""
		i.interactive = terminal.Interactive(c.InOrStdin())
		return i.run(c.Context())
	})
	return c
}

// initialization is the init command.
type initialization struct {
	*program
	output, document, issuer, variable string
	force                              bool

	asked       bool // questions are asked
	interactive bool // a person answers them, and can answer again
	answers     *bufio.Reader
}

func (i *initialization) run(ctx context.Context) error {
	api, err := i.askDocument(ctx)
	if err != nil {
		return err
	}
	if err := i.askIssuer(); err != nil {
		return err
	}
	if err := i.askCredential(api); err != nil {
		return err
	}
	spec, err := specFor(i.document, i.output)
	if err != nil {
		return err
	}
	file := starterFile{spec: spec, api: api, issuer: i.issuer, variable: i.variable, base: i.baseURL}
	if err := i.write(file.String()); err != nil {
		return err
	}
	if file.lacksBase() {
		i.variable = "" // it stands in comments
	}
	i.sayNext(api)
	return nil
}

// described is what the document says of an API.
type described struct {
	name, title, standard string
	tools                 int
	base                  string  // where calls go; "" if the document does not say
	baseProblem           string  // why not
	scheme                *scheme // that most operations require; nil if none does
}

// scheme is a security scheme of a document.
type scheme struct {
	name, kind, http, in, key string
	operations                int // that require it
}

// read reads a document.
func (i *initialization) read(ctx context.Context, location string) (*described, error) {
	cfg, problems := config.LoadWith(location, i.getenv, i.loadOptions())
	switch {
	case cfg == nil:
		return nil, problems.Err()
	case !cfg.IsBare():
		return nil, fmt.Errorf("%s is a configuration already; init needs the URL or the path of an OpenAPI document", location)
	case len(cfg.APIs) != 1:
		return nil, fmt.Errorf("%s has %s; init needs one of them", location, count(len(cfg.APIs), "document"))
	}
	p := *i.program
	p.stderr = io.Discard // its problems are for check
	g, outcomes, err := p.loadOnce(ctx, location, gateway.Options{})
	if err != nil {
		return nil, err
	}
	o := &outcomes[0]
	if o.Err != nil {
		return nil, o.Err
	}
	api := &described{name: o.Name, title: o.Report.API.Title, standard: o.Report.API.Standard, tools: len(g.Plans())}
	if o.API.Base != nil {
		api.base = o.API.Base.String()
	}
	if i.baseURL != "" {
		api.base = i.baseURL
	}
	for _, op := range o.API.Operations {
		if op.Base != nil && api.base == "" {
			api.base = op.Base.String()
		}
		if op.BaseProblem != "" && api.baseProblem == "" {
			api.baseProblem = op.BaseProblem
		}
	}
	for _, s := range o.API.Schemes {
		one := &scheme{name: s.Name, kind: s.Type, http: s.HTTP, in: s.In, key: s.Key}
		for _, op := range o.API.Operations {
			for _, alternative := range op.Security {
				for _, use := range alternative {
					if use.Scheme == s.Name {
						one.operations++
					}
				}
			}
		}
		if one.operations > 0 && (api.scheme == nil || one.operations > api.scheme.operations) {
			api.scheme = one
		}
	}
	return api, nil
}

// specFor returns how a configuration file names a document: a path is relative to the file.
func specFor(document, output string) (string, error) {
	if !utf8.ValidString(document) {
		return "", usageError{fmt.Errorf("init: the location %q is not UTF-8, and can't stand in a YAML file", document), nil}
	}
	if strings.Contains(document, "://") || filepath.IsAbs(document) {
		return document, nil
	}
	from, err := filepath.Abs(filepath.Dir(output))
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(document)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(from, to)
	if err != nil { // another drive
		return to, nil //nolint:nilerr // the absolute path does as well
	}
	return filepath.ToSlash(relative), nil
}

// write writes the file, after it was read as serve reads it, so that a file that is not accepted is never left.
func (i *initialization) write(text string) error {
	dir, err := os.MkdirTemp(filepath.Dir(i.output), ".drawbridge-init-*")
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	defer os.RemoveAll(dir)
	draft := filepath.Join(dir, filepath.Base(i.output))
	if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if cfg, problems := config.LoadWith(draft, i.getenv, config.LoadOptions{WithoutSecrets: true}); cfg == nil {
		return usageError{errors.New("init: nothing is written: " + strings.ReplaceAll(problems.Errors().Err().Error(), draft, i.output)), nil}
	}
	if i.force {
		err = replaceFile(i.output, []byte(text))
	} else {
		err = createFile(i.output, text)
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

// createFile writes a file that does not exist.
func createFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// sayNext says what was written and what to do with it.
func (i *initialization) sayNext(api *described) {
	out := printable{i.stdout}
	with := ""
	if i.output != defaultConfig {
		with = " --config " + i.output
	}
	fmt.Fprintf(out, "%s written: %s of %q. Next:\n", i.output, count(api.tools, "tool"), oneLine(api.title))
	for _, name := range i.variables(api) {
		if i.getenv(name) == "" {
			fmt.Fprintf(out, "  export %s=…   the file refers to it, and it is not set\n", name)
		}
	}
	if i.variable == "" && api.scheme != nil {
		fmt.Fprintf(out, "  The API requires %s: the file has a credential in comments.\n", api.scheme.describe())
	}
	if api.base == "" && api.baseProblem != "" {
		fmt.Fprintf(out, "  Set base_url in the file: %s.\n", oneLine(api.baseProblem))
	}
	fmt.Fprintf(out, "  drawbridge check%s\n  drawbridge serve%s\n", with, with)
}
