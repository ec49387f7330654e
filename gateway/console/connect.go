package console

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/config"
	"drawbridge/docs/start"
)

// connectData is what the page Connect shows.
type connectData struct {
	Endpoints []connectEndpoint
	Chosen    connectEndpoint
	Clients   []connectClient
	Login     bool // clients need a token
	Keys      bool // clients may have a key
	Unknown   bool // neither public_url nor a loopback address tells the URL
	Loopback  bool // only clients on this machine reach the URL
}

// connectEndpoint is an endpoint of the gateway.
type connectEndpoint struct {
	Name string // "" for the main one
	URL  string
	Path string // of the page with its snippets
}

// connectClient is a client and how it connects.
type connectClient struct {
	Name     string
	ID       string // of the section of the page
	Guide    string // page of docs/start, without its extension
	Snippets []connectSnippet
	Steps    []string // what to do in a client that has no file or command
	Install  string   // URL that adds the endpoint to the client; "" if the client has none
}

// connectSnippet is a command, or the content of a file.
type connectSnippet struct {
	Label string // where it goes
	Text  string
}

// Placeholders of the snippets: what the pages of docs/start have in their place.
const (
	guideURL  = "http://127.0.0.1:8080/mcp"
	guideName = "orders"
)

// unknownURL is the URL of snippets if the gateway does not know its own.
const unknownURL = "https://HOST/mcp"

// connect serves the page with the snippets that connect clients to an endpoint.
func (c *Console) connect(w http.ResponseWriter, r *http.Request) {
	data, ok := newConnectData(c.o.Config(), r.URL.Query().Get("endpoint"))
	if !ok {
		c.fail(w, r, http.StatusNotFound, "There is no such endpoint.")
		return
	}
	c.render(w, r, data)
}

// guideData is what the page of a client's guide shows.
type guideData struct {
	Name string
	Text string // Markdown
	Back string // URL of the endpoint's page
}

// guide serves a page of docs/start with the URL of an endpoint.
func (c *Console) guide(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("guide")
	text, err := start.Guides.ReadFile(name + ".md")
	data, ok := newConnectData(c.o.Config(), r.URL.Query().Get("endpoint"))
	if err != nil || !ok {
		c.fail(w, r, http.StatusNotFound, "There is no such guide.")
		return
	}
	c.render(w, r, guideData{name, strings.ReplaceAll(string(text), guideURL, data.Chosen.URL), data.Chosen.Path})
}

// guideURL returns the URL of a client's guide.
func (d connectData) guideURL(name string) string {
	u := "/console/connect/" + url.PathEscape(name)
	if d.Chosen.Name != "" {
		u += "?endpoint=" + url.QueryEscape(d.Chosen.Name)
	}
	return u
}

// newConnectData returns what connects clients to the endpoint of a configuration with that name, "" for the main one.
func newConnectData(c *config.Config, chosen string) (connectData, bool) {
	data := connectData{Login: c.Auth.HasIssuers(), Keys: c.Auth.HasKeys(), Unknown: c.Resource() == ""}
	base := c.Resource()
	if data.Unknown {
		base = unknownURL
	}
	all := []connectEndpoint{{URL: base, Path: "/console/connect"}}
	for i := range c.Endpoints {
		name := c.Endpoints[i].Name
		all = append(all, connectEndpoint{Name: name, URL: base + "/" + name, Path: "/console/connect?endpoint=" + url.QueryEscape(name)})
	}
	for _, e := range all {
		if e.Name == chosen {
			data.Endpoints, data.Chosen = all, e
			data.Clients = connectClients(e.URL, e.entry())
			u, err := url.Parse(e.URL)
			data.Loopback = err == nil && !data.Unknown && u.Scheme == "http"
			return data, true
		}
	}
	return connectData{}, false
}

// entry returns the name of the endpoint's entry in the configuration of clients.
func (e connectEndpoint) entry() string {
	if e.Name == "" {
		return "drawbridge"
	}
	return e.Name
}

// installURL returns the URL by which a client adds an endpoint to its configuration, after asking the user; "" if the client has none.
// See https://code.visualstudio.com/api/extension-guides/ai/mcp and https://cursor.com/docs/mcp/install-links.
func installURL(client, endpoint, entry string) string {
	encoded := func(v any) []byte { text, _ := json.Marshal(v); return text } // strings can be written
	switch client {
	case "vscode":
		return "vscode:mcp/install?" + url.PathEscape(string(encoded(map[string]string{"name": entry, "type": "http", "url": endpoint})))
	case "cursor":
		q := url.Values{"name": {entry}, "config": {base64.StdEncoding.EncodeToString(encoded(map[string]string{"url": endpoint}))}}
		return "cursor://anysphere.cursor-deeplink/mcp/install?" + q.Encode()
	}
	return ""
}

// connectClients returns the clients of docs/start, in the order of its table, for an endpoint. TestConnectGuides holds each
// snippet against the page.
func connectClients(endpoint, entry string) []connectClient {
	fill := strings.NewReplacer(guideURL, endpoint, guideName, entry)
	clients := guideClients()
	for i := range clients {
		clients[i].Install = installURL(clients[i].ID, endpoint, entry)
		for j := range clients[i].Snippets {
			s := &clients[i].Snippets[j]
			s.Label, s.Text = fill.Replace(s.Label), fill.Replace(s.Text)
		}
		for j := range clients[i].Steps {
			clients[i].Steps[j] = fill.Replace(clients[i].Steps[j])
		}
	}
	return clients
}
