package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
	"drawbridge/gateway"
)

const (
	// bannerPatience is how long the banner waits for documents: an address that does not answer takes longer.
	bannerPatience = 10 * time.Second
	// bannerPoll is how often it is looked whether the documents of discovered services were read.
	bannerPoll = 50 * time.Millisecond
	// bannerAPIs is the most APIs that the banner lists.
	bannerAPIs = 12
)

// announce writes the start banner as soon as each document was read, or could not be.
func (s *server) announce(ctx context.Context) {
	progress := terminal.Watch(s.screen, func() (string, int, int) {
		apis := s.gateway.Status().APIs
		done := 0
		for i := range apis {
			if apis[i].State != "loading" {
				done++
			}
		}
		return "reading documents", done, len(apis)
	})
	defer progress.Stop()
	patience, cancel := context.WithTimeout(ctx, bannerPatience)
	defer cancel()
	s.awaitDocuments(patience)
	if ctx.Err() != nil {
		return
	}
	progress.Stop()
	if err := s.writeBanner(); err != nil {
		s.log.Warn("the terminal can't be written to", "error", err)
	}
}

// awaitDocuments waits until each document was read, or could not be: those of the configuration, and those of services that
// are discovered at first.
func (s *server) awaitDocuments(ctx context.Context) {
	for _, done := range []<-chan struct{}{s.gateway.Attempted(), s.gateway.Discovered()} {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
	tick := time.NewTicker(bannerPoll)
	defer tick.Stop()
	for s.isReading() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// isReading reports whether a document of a discovered service was not tried yet.
func (s *server) isReading() bool {
	status := s.gateway.Status()
	if status.Discovery == nil {
		return false
	}
	tried := map[string]bool{}
	for i := range status.APIs {
		tried[status.APIs[i].Name] = status.APIs[i].State != "loading"
	}
	return slices.ContainsFunc(status.Discovery.Services, func(one gateway.ServiceStatus) bool { return one.IsServed() && !tried[one.API] })
}

// writeBanner writes the banner.
func (s *server) writeBanner() error {
	b := &banner{s: s, c: s.gateway.Config(), width: s.screen.Width()}
	b.addresses()
	b.apis()
	b.attention()
	b.next()
	_, err := io.WriteString(s.screen, b.String())
	return err
}

// banner is what a person at the terminal needs to know at the start: where the gateway is, what it serves, what is missing or
// weak, and what to do next. Texts from documents are made printable.
type banner struct {
	strings.Builder
	s     *server
	c     *config.Config
	width int
}

func (b *banner) printf(format string, args ...any) { fmt.Fprintf(b, format, args...) }

// paint returns a text in a colour: a parameter of the control sequence SGR (ECMA-48 section 8.3.117).
func (b *banner) paint(colour, text string) string {
	if !b.s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// row writes a value after its name.
func (b *banner) row(name, value string) {
	b.printf("  %s %s\n", b.paint("2", fmt.Sprintf("%-8s", name)), value)
}

// mcpURL returns the URL of /mcp at this machine.
func (b *banner) mcpURL() string {
	return b.c.Server.Scheme() + "://" + local(config.Address(b.s.public.Addr().String())) + "/mcp"
}

func (b *banner) addresses() {
	b.printf("\n%s\n\n", b.paint("1", "drawbridge "+version))
	base := strings.TrimSuffix(b.mcpURL(), "/mcp")
	bases := []string{base}
	if b.c.MainURL() != nil {
		bases = b.c.PublicURLs()
	}
	paths := []string{"/mcp"}
	for i := range b.c.Endpoints {
		paths = append(paths, "/mcp/"+b.c.Endpoints[i].Name)
	}
	name := "MCP"
	for _, public := range bases {
		for _, path := range paths {
			b.row(name, b.paint("1;36", public+path))
			name = ""
		}
	}
	if b.c.MainURL() != nil {
		b.row("", "listening at "+base)
	}
	admin := "http://" + local(config.Address(b.s.admin.Addr().String()))
	if b.c.Admin.ConsoleOn() {
		b.row("Console", b.console(admin))
	}
	b.row("Admin", admin+"/apis")
	b.row("Metrics", admin+"/metrics")
	b.row("Access", b.access())
}

// console says where the console is, and whether anybody can sign in.
func (b *banner) console(admin string) string {
	a := &b.c.Admin
	if a.Console.URL != nil {
		admin = a.ConsoleURL()
	}
	if a.Token.IsZero() && len(a.Console.Tokens) == 0 && a.Console.OIDC == nil {
		return admin + "/console, once admin.token is configured"
	}
	return admin + "/console"
}

// access says who may call.
func (b *banner) access() string {
	switch {
	case b.c.Auth.HasIssuers():
		text := "callers need a token of " + strings.Join(b.c.Auth.Identifiers(), " or ")
		if n := len(b.c.Auth.Keys); n > 0 {
			text += fmt.Sprintf(", or one of %d keys", n)
		}
		return text
	case b.c.Auth.HasKeys():
		return fmt.Sprintf("callers need one of %d keys (auth.keys)", len(b.c.Auth.Keys))
	case b.c.Server.Listen.Loopback():
		return "no token is required; only programs on this machine can connect (auth requires tokens)"
	}
	return "no token is required of anyone who can reach this address"
}

func (b *banner) apis() {
	status := b.s.gateway.Status()
	served := 0
	table := terminal.Table{Indent: strings.Repeat(" ", 11), Width: b.width, Flexible: []int{2, 0}}
	for i := range status.APIs {
		a := &status.APIs[i]
		state := string(a.State)
		if a.Tools > 0 {
			served++
			state = count(a.Tools, "tool")
		}
		if i < bannerAPIs {
			where := a.Spec
			if a.Service != nil {
				where = discoveredFrom(a.Service)
			}
			table.Row(oneLine(a.Name), state, oneLine(where))
		}
	}
	b.printf("\n")
	if status.Discovery != nil {
		b.row("Services", status.Discovery.Summary())
	}
	b.row("APIs", fmt.Sprintf("%d of %d served", served, len(status.APIs)))
	_, _ = table.WriteTo(b) // into memory
	if more := len(status.APIs) - bannerAPIs; more > 0 {
		b.printf("%s… and %d more\n", table.Indent, more)
	}
	name := "Tools"
	for _, list := range b.s.gateway.Lists() {
		listed := "all are listed"
		if list.Presentation != string(config.PresentationAll) {
			listed = "found with search_tools"
			if list.Pinned > 0 {
				listed += fmt.Sprintf(", %d listed too", list.Pinned)
			}
		}
		of := ""
		if len(b.c.Endpoints) > 0 {
			of = list.Endpoint + ": "
		}
		b.row(name, fmt.Sprintf("%s%d, %s (%s)", of, list.Tools, listed, list.Reason))
		name = ""
	}
}

// attention lists what is missing or weak.
func (b *banner) attention() {
	var all []string
	add := func(format string, args ...any) { all = append(all, oneLine(fmt.Sprintf(format, args...))) }
	if warning := exposure(b.c); warning != "" {
		add("%s", warning)
	}
	status := b.s.gateway.Status()
	if status.Config.Error != "" {
		add("the newer configuration is not used: %s", status.Config.Error)
	}
	for _, opens := range status.Config.Opens {
		add("held until a reload accepts it (SIGHUP): %s", opens)
	}
	for _, problem := range status.Config.Selectors {
		add("%s", problem)
	}
	if status.Discovery != nil {
		for _, text := range append(unreadable(status.Discovery), attentions(status.Discovery, b.c, mostOfOneCode)...) {
			add("%s", text)
		}
	}
	for i := range status.APIs {
		a := &status.APIs[i]
		switch {
		case a.State == "loading":
			add("%s: the document is still being read", a.Name)
		case a.Error != "":
			add("%s: %s%s", a.Name, a.Error, nextTry(a.NextTryAt))
		}
		if a.Held != nil {
			add("%s: a newer document is held, because it lacks %d of %d operations; the admin listener accepts it", a.Name, a.Held.Lost, a.Held.Of)
		}
		if n := a.Operations.HeldBack; n > 0 {
			add("%s: %s held back until drawbridge lock approves them", a.Name, count(n, "tool"))
		}
		for _, text := range a.Faults {
			add("%s: %s", a.Name, text)
		}
		for _, text := range a.Notes {
			add("%s: %s", a.Name, text)
		}
	}
	for _, list := range b.s.gateway.Lists() {
		if list.OverBudget {
			add("%s: %s", list.Endpoint, list.Reason)
		}
	}
	if len(all) == 0 {
		return
	}
	b.printf("\n")
	for _, text := range all {
		b.printf("  %s %s\n", b.paint("33", "!"), text)
	}
}

func nextTry(at *time.Time) string {
	if at == nil {
		return ""
	}
	return "; the next try is at " + at.Local().Format(time.TimeOnly)
}

// next says what to do: connect a client, try a call, end.
func (b *banner) next() {
	b.printf("\n")
	if tool := b.callable(b.s.gateway.Plans()); tool != "" {
		b.row("Try", "drawbridge call "+b.where()+tool)
	} else {
		b.row("Try", "drawbridge tools "+strings.TrimSpace(b.where()))
	}
	url := b.mcpURL()
	if b.c.MainURL() != nil {
		url = b.c.Resource()
	}
	b.row("Connect", "claude mcp add --transport http drawbridge "+url)
	b.row("Stop", "Ctrl-C")
	b.printf("\n")
}

// where returns how a command names the configuration, with a space behind it.
func (b *banner) where() string {
	switch location := oneLine(b.s.location); {
	case location == defaultConfig:
		return ""
	case b.c.IsBare():
		return location + " "
	default:
		return "--config " + location + " "
	}
}

// callable returns a tool that reads and needs no arguments, or "".
func (b *banner) callable(plans []*gateway.Plan) string {
	for _, plan := range plans {
		if op := plan.Operation; op.Method == http.MethodGet && len(op.Required()) == 0 && op.Base != nil {
			return plan.Tool.Name
		}
	}
	return ""
}
