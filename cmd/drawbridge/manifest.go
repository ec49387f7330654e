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

// registrySchema is the schema of the server.json that the command writes, whose rules check
// applies.
const registrySchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

// registryEntry is a server.json of the MCP registry, for a server with an HTTP endpoint.
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
		Long: `Manifest prints an entry for an MCP registry (server.json): the URL of the gateway, from server.public_url, and its
name. The name is the reversed host name, since registries require a proof that the domain is yours. Only the
configuration is read, and nothing is sent; mcp-publisher publishes the entry.

For the list of tools that the gateway itself publishes, see server.manifest.

Exit codes: 0 on success, 2 on bad usage or configuration.`,
		Example: `  drawbridge manifest --config drawbridge.yaml > server.json
  drawbridge manifest --config drawbridge.yaml --name com.example/orders --version 1.4.0 --description "Orders and invoices"`,
	}
	p.configFlag(c)
	c.Flags().StringVar(&entry.Name, "name", "", "name in the registry, namespace/name (default: the reversed host name, /drawbridge)")
	c.Flags().StringVar(&entry.Title, "title", "", "display name")
	c.Flags().StringVar(&entry.Description, "description", "", "description, at most 100 characters")
	c.Flags().StringVar(&entry.Version, "version", "", "version of the entry (default: version of the program)")
	c.Flags().StringVar(&endpoint, "endpoint", "", "endpoint of the configuration that the entry describes")
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

// complete fills in the fields that no flag has set.
func (e *registryEntry) complete(c *config.Config, endpoint string) error {
	u := c.MainURL()
	if u == nil {
		return errors.New("server.public_url: set the URL at which clients reach the gateway; the entry needs it")
	}
	host := u.URL().Hostname()
	if _, err := netip.ParseAddr(host); u.URL().Scheme != "https" || err == nil || !strings.Contains(host, ".") {
		return fmt.Errorf("server.public_url: registries accept only https URLs with a public host name, not %q", u)
	}
	resource, short := c.Resource(), "drawbridge"
	info := (*config.Info)(nil).Over(c.Server.Info)
	if endpoint != "" {
		n := slices.IndexFunc(c.Endpoints, func(e config.MCPEndpoint) bool { return e.Name == endpoint })
		if n < 0 {
			return fmt.Errorf("the configuration has no such endpoint: %q", endpoint)
		}
		resource, short = c.EndpointResource(endpoint), endpoint
		e.Title = cmp.Or(e.Title, c.Endpoints[n].Title)
		info = c.Endpoints[n].Info.Over(c.Server.Info)
	}
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), "."), ".")
	slices.Reverse(labels)
	e.Schema = registrySchema
	e.Name = cmp.Or(e.Name, strings.Join(labels, ".")+"/"+short)
	e.Title = cmp.Or(e.Title, info.Title)
	if utf8.RuneCountInString(info.Description) <= maxRegistryText {
		e.Description = cmp.Or(e.Description, info.Description)
	}
	e.Description = cmp.Or(e.Description, "REST services as MCP tools, by way of their OpenAPI documents.")
	e.Version = cmp.Or(e.Version, version)
	e.Remotes = []registryRemote{{"streamable-http", resource}}
	return nil
}

// maxRegistryText is the maximum number of characters of a title and of a description in a registry.
const maxRegistryText = 100

var (
	registryName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	versionRange = regexp.MustCompile(`^[\^~<>=]|[*|]|(^|\.)[xX](\.|$)| - `)
)

// check validates the entry against the registry's rules, and returns all violations.
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
