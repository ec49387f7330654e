package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
	"drawbridge/openapi/text"
)

func (p *program) callCommand() *cobra.Command {
	var dryRun bool
	var each string
	c := &cobra.Command{
		Use:   "call [--config FILE | DOCUMENT] TOOL ['JSON' | @FILE | -]",
		Short: "Call one tool and print the result, or with --dry-run the HTTP request",
		Long: `Call runs one tools/call through the whole gateway, credential included, and prints the result.
With --dry-run nothing is sent: the HTTP request is printed instead, without the credential, and standard error shows what a
call requires and which settings require it. An API without a base URL is shown with the host base-url.invalid. Of a workflow the
steps are printed, as far as they don't depend on answers.
The arguments are a JSON object; @FILE reads them from a file, and - from standard input, up to limits.max_body.
The result is what a model reads, but whole: limits.max_result_tokens and limits.max_result_binary do not apply. If the service
did not answer, the cause is printed on standard error, with the host and the port of the service.

With --each the tool is called once for each line of a file, which holds the arguments as a JSON object. All lines are validated
first; if one has a fault, all faults are printed with their lines, and nothing is sent. With --dry-run they are only validated.
Each result is one line of JSON with the number of its record's line.

Exit codes: 0 on success, 1 if the result is an error, 2 on bad usage or configuration.`,
		Example: `  drawbridge call --config drawbridge.yaml getOrder '{"order_no": "2024/17"}'
  drawbridge call getOrder '{"order_no": "2024/17"}'         with drawbridge.yaml of the working directory
  drawbridge call --dry-run openapi.yaml listOrders '{"status": ["open"]}'
  drawbridge call createOrder @order.json
  drawbridge call --each orders.jsonl --dry-run createOrder
  jq '{order: .}' order.json | drawbridge call createOrder -`,
	}
	p.configFlag(c)
	p.baseURLFlag(c)
	c.ValidArgsFunction = p.completeCall
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the HTTP request instead of sending it; with --each, validate only")
	c.Flags().StringVar(&each, "each", "", "call the tool for each line of `FILE`, - for standard input")
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		own, err := ownArguments(args, c.Flags().Changed("config"))
		if err != nil {
			return usageError{err, c}
		}
		location, args, err := p.location(c, args, own)
		if err != nil {
			return err
		}
		if each != "" && len(args) > 1 {
			return usageError{errors.New("call: --each gives the arguments, so they can't be given here, too"), c}
		}
		return p.call(c, location, args, each, dryRun)
	})
	return c
}

// call calls a tool, or prints the request of the call. args are the name of the tool and, if given, the arguments of the call.
// each is the file of the arguments of several calls; "" for one call.
func (p *program) call(c *cobra.Command, location string, args []string, each string, dryRun bool) error {
	tool, arguments := args[0], json.RawMessage("{}")
	read := len(args) > 1 && areElsewhere(args[1])
	if len(args) > 1 && !read {
		arguments = json.RawMessage(args[1])
		if err := checkArguments(arguments); err != nil {
			return usageError{err, nil}
		}
	}
	g, outcomes, err := p.loadTools(c.Context(), location, gateway.Options{})
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.Err != nil {
			fmt.Fprintf(p.stderr, "%s: can't be served: %v\n", o.Name, o.Err)
		}
	}
	plan := g.Plan(tool)
	switch {
	case plan == nil && !g.Workflow(tool):
		return noTool(tool, g.Plans())
	case plan == nil && each != "":
		return usageError{fmt.Errorf("call: %q is a workflow: --each is for other tools", tool), c}
	}
	if each != "" {
		return p.callEach(c, g, plan, each, dryRun)
	}
	if read {
		if arguments, err = readArguments(args[1], c.InOrStdin(), g.Config().Limits.MaxBody); err != nil {
			return usageError{err, nil}
		}
	}
	if dryRun && plan == nil {
		return p.printSteps(c, g, tool, arguments)
	}
	if dryRun {
		for _, line := range g.Access(plan).Lines() {
			fmt.Fprintln(p.stderr, line)
		}
		if _, dropped := plan.Drop(arguments); len(dropped) > 0 {
			fmt.Fprintln(p.stderr, "dropped arguments: "+strings.Join(dropped, " "))
		}
		return p.printRequest(c, plan, arguments)
	}
	result, cause, err := g.CallWithCause(c.Context(), tool, arguments)
	if err != nil {
		return err
	}
	if cause != nil && plan != nil {
		p.printCause(c, plan, arguments, cause)
	}
	return p.printResult(result)
}

// ownArguments returns how many arguments are not the location of a document: TOOL, or TOOL and its arguments. Two
// arguments are a document and a tool, unless the second one can't be a tool.
func ownArguments(args []string, config bool) (int, error) {
	switch n := len(args); {
	case n == 1 && !config && !hasDefaultConfig():
		return 0, fmt.Errorf("call needs the name of a tool, and a configuration or document: there is no %s in the working directory", defaultConfig)
	case n == 1 || n == 2 && (config || looksLikeArguments(args[1])):
		return n, nil
	case (n == 2 || n == 3) && !config:
		return n - 1, nil
	}
	return 0, errors.New("call needs the name of a tool, and its arguments as a JSON object")
}

// maxSuggestions is the maximum number of names suggested for an unknown one.
const maxSuggestions = 3

// noTool returns the error for an unknown tool, with the names that may have been meant.
func noTool(name string, plans []*gateway.Plan) error {
	names := make([]string, len(plans))
	for i, plan := range plans {
		names[i] = plan.Tool.Name
	}
	near := text.NearestFew(name, names, maxSuggestions)
	if len(near) == 0 {
		return fmt.Errorf("there is no tool %q; 'drawbridge tools' lists them", name)
	}
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	return fmt.Errorf("there is no tool %q; did you mean %s? 'drawbridge tools' lists all", name, oneOf(near))
}

// printCause prints the reason that a service did not answer, which the result withholds from a
// model. Its text is that of the log, without secrets.
func (p *program) printCause(c *cobra.Command, plan *gateway.Plan, args json.RawMessage, cause error) {
	text := "cause: " + cause.Error()
	if r, err := plan.Request(c.Context(), args); err == nil && plan.Base != nil {
		port := r.URL.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[r.URL.Scheme]
		}
		text += fmt.Sprintf("; the service is at %s://%s", r.URL.Scheme, net.JoinHostPort(r.URL.Hostname(), port))
	}
	fmt.Fprintln(p.stderr, text)
}

func (p *program) printRequest(c *cobra.Command, plan *gateway.Plan, args json.RawMessage) error {
	r, err := plan.Request(c.Context(), args)
	if err != nil {
		var bad interface{ ToolMessage() string } // invalid arguments
		if errors.As(err, &bad) {
			return errors.New(strings.TrimRight(bad.ToolMessage(), "\n"))
		}
		return err
	}
	var b bytes.Buffer
	if err := writeRequest(&b, r); err != nil {
		return err
	}
	_, err = fmt.Fprint(p.stdout, plan.Secrets.All(b.String()))
	return err
}

// printSteps prints the requests of the steps of a workflow as far as they are known before it runs.
func (p *program) printSteps(c *cobra.Command, g *gateway.Gateway, tool string, args json.RawMessage) error {
	steps, err := g.PreviewWorkflow(tool, args)
	if err != nil {
		return errors.New(strings.TrimRight(err.Error(), "\n"))
	}
	for i, s := range steps {
		fmt.Fprintf(p.stdout, "# %d. %s: %s\n", i+1, s.Step, s.Plan.Tool.Name)
		if len(s.Unknown) == 0 {
			if err := p.printRequest(c, s.Plan, s.Arguments); err != nil {
				return fmt.Errorf("the step %s: %w", s.Step, err)
			}
			continue
		}
		fmt.Fprintf(p.stdout, "%s %s of %s, known after earlier steps: %s\n", s.Plan.Tool.Method, s.Plan.Tool.Path, s.Plan.Tool.API, strings.Join(s.Unknown, ", "))
		if len(s.Arguments) > len("{}") {
			fmt.Fprintf(p.stdout, "%s\n", s.Plan.Secrets.All(string(s.Arguments)))
		}
	}
	return nil
}

// writeRequest prints a request as it is sent, with headers sorted by name.
func writeRequest(w io.Writer, r *http.Request) error {
	fmt.Fprintf(w, "%s %s\n", r.Method, r.URL)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			fmt.Fprintf(w, "%s: %s\n", name, v)
		}
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\n", body)
	return err
}

func (p *program) printResult(result json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, result, "", "  "); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, b.String())
	var r struct{ IsError bool }
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	if r.IsError {
		return exitError(exitFail)
	}
	return nil
}
