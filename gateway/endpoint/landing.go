package endpoint

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/htmltemplate"
)

//go:embed landing.html
var landingHTML string

// landing is the page at / for people who open the gateway's address in a browser. It says what the address is for and
// how a client connects. It depends on the gateway's URL alone, so that it names no API, tool or endpoint (Z9).
var landing = htmltemplate.Must(htmltemplate.Parse(nil, htmltemplate.File{Name: "landing.html", Text: landingHTML}))

// landingPolicy permits the style of the page, by its digest, and nothing else.
var landingPolicy = []string{"default-src 'none'; style-src '" + styleDigest(landingHTML) + "'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"}

// styleDigest returns the source expression of the only style element of a page (CSP Level 3 section 2.3.1).
func styleDigest(page string) string {
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	digest := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(digest[:])
}

// serveLanding serves the page to a GET by a browser. All other requests for / get the URL of the endpoint in a line of text.
func (s *Server) serveLanding(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !acceptsHTML(r.Header.Values("Accept")) {
		s.serveSignpost(w, r)
		return
	}
	s.screen(http.HandlerFunc(s.writeLanding)).ServeHTTP(w, r)
}

func (s *Server) writeLanding(w http.ResponseWriter, r *http.Request) {
	c := s.Current().Screening.config
	var page bytes.Buffer
	if err := landing.Execute(&page, "landing.html", struct {
		URL   string
		Token bool
	}{s.endpointURL(r), requiresToken(c)}); err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h["Content-Security-Policy"] = landingPolicy
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", "Accept")
	_, _ = w.Write(page.Bytes())
}

// endpointURL returns the URL of /mcp as the client of a screened request can use it.
func (s *Server) endpointURL(r *http.Request) string {
	screening := s.Current().Screening
	if all := screening.config.Resources(); len(all) > 0 {
		return all[screening.urls.of(r)]
	}
	// It listens on all interfaces without public_url.
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + "/mcp"
}

// requiresToken reports whether clients need a token, which the metadata says to everybody as well.
func requiresToken(c *config.Config) bool { return c.Auth != nil && len(c.Auth.Issuers) > 0 }

// acceptsHTML reports whether an Accept header names text/html, as those of browsers do. MCP clients and "*/*" don't.
func acceptsHTML(accept []string) bool {
	for _, value := range accept {
		for one := range strings.SplitSeq(value, ",") {
			kind, parameters, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(kind), "text/html") && strings.ReplaceAll(parameters, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
