package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"drawbridge/config"
)

// registrySchema is the schema of server.json that the command writes for: its rules are those of check.
const registrySchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

// registryEntry is a server.json of the MCP registry, of a server that clients reach over HTTP.
type registryEntry struct {
	Schema      string           `json:"$schema"`
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description"`
	Version     string           `json:"version"`
	Remotes     []registryRemote `json:"remotes"`
}

type registryRemote struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

func (p *program) manifestCommand() *cobra.Command {
	var entry registryEntry
	var endpoint string
	c := &cobra.Command{
		Use:   "manifest --config FILE",
		Short: "Print the server.json for an MCP registry",
		Long: `Manifest prints an entry for an MCP registry (server.json): where the gateway is reached, by server.public_url, and
what it is called. The name is that of the host backwards, since registries ask for a proof that the domain is yours.
Nothing is read but the configuration, and nothing is sent; mcp-publisher publishes it.

What the gateway tells of its tools to who asks it is another thing: see server.manifest.

Exit codes: 0, 2 on bad usage or configuration.`,
		Example: `  drawbridge manifest --config drawbridge.yaml > server.json
  drawbridge manifest --config drawbridge.yaml --name com.example/orders --version 1.4.0 --description "Orders and invoices"`,
	}
	p.configFlag(c)
	c.Flags().StringVar(&entry.Name, "name", "", "name in the registry, namespace/name (default: the host backwards, /drawbridge)")
	c.Flags().StringVar(&entry.Title, "title", "", "name for people")
	c.Flags().StringVar(&entry.Description, "description", "", "what it is for, at most 100 characters")
	c.Flags().StringVar(&entry.Version, "version", "", "version of the entry (default: that of the program)")
	c.Flags().StringVar(&endpoint, "endpoint", "", "the endpoint of the configuration that the entry is for")
	c.RunE = func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		cfg, err := p.load(location)
		if err != nil {
			return err
		}
		if err := entry.complete(cfg, endpoint); err != nil {
			return usageError{err, nil}
		}
		if err := entry.check(); err != nil {
			return usageError{err, c}
		}
		text, err := json.MarshalIndent(entry, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(printable{p.stdout}, string(text))
		return nil
	}
	return c
}

// complete fills in what no flag has given.
func (e *registryEntry) complete(c *config.Config, endpoint string) error {
	u := c.Server.PublicURL
	if u == nil {
		return errors.New("server.public_url: give the URL under which clients reach the gateway; an entry without it says nothing")
	}
	host := u.URL().Hostname()
	if _, err := netip.ParseAddr(host); u.URL().Scheme != "https" || err == nil || !strings.Contains(host, ".") {
		return fmt.Errorf("server.public_url: registries list https URLs of public names, not %q", u)
	}
	resource, short := c.Resource(), "drawbridge"
	if endpoint != "" {
		n := slices.IndexFunc(c.Endpoints, func(e config.MCPEndpoint) bool { return e.Name == endpoint })
		if n < 0 {
			return fmt.Errorf("the configuration has no such endpoint: %q", endpoint)
		}
		resource, short = c.EndpointResource(endpoint), endpoint
		e.Title = cmp.Or(e.Title, c.Endpoints[n].Title)
	}
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), "."), ".")
	slices.Reverse(labels)
	e.Schema = registrySchema
	e.Name = cmp.Or(e.Name, strings.Join(labels, ".")+"/"+short)
	e.Description = cmp.Or(e.Description, "REST services as MCP tools, by way of their OpenAPI documents.")
	e.Version = cmp.Or(e.Version, version)
	e.Remotes = []registryRemote{{"streamable-http", resource}}
	return nil
}

var (
	registryName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	versionRange = regexp.MustCompile(`^[\^~<>=]|[*|]|(^|\.)[xX](\.|$)| - `)
)

// check holds the entry against the registry's rules, and returns every one that is broken.
func (e *registryEntry) check() error {
	var errs []error
	wrong := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--"+flag+": "+format, args...))
	}
	if n := len(e.Name); n < 3 || n > 200 || !registryName.MatchString(e.Name) {
		wrong("name", "must be namespace/name of letters, digits, dots and hyphens, at most 200, such as com.example/orders; got %q", e.Name)
	}
	if n := utf8.RuneCountInString(e.Title); n > 100 {
		wrong("title", "must have at most 100 characters, got %d", n)
	}
	if n := utf8.RuneCountInString(e.Description); n > 100 {
		wrong("description", "must have at most 100 characters, got %d", n)
	}
	for flag, text := range map[string]string{"title": e.Title, "description": e.Description, "version": e.Version} {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			wrong(flag, "must have no line breaks and no control characters")
		}
	}
	if len(e.Version) > 255 || e.Version == "latest" || versionRange.MatchString(e.Version) {
		wrong("version", "must be one version, such as 1.4.0, not a range; got %q", e.Version)
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}
