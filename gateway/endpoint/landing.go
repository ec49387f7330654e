package endpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
)

//go:embed landing.css
var landingStyle string

// landingPolicy permits the style of the page, by its digest (CSP Level 3 section 2.3.1), and nothing else.
var landingPolicy = []string{"default-src 'none'; style-src '" + sourceOf(landingStyle) + "'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"}

func sourceOf(style string) string {
	digest := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(digest[:])
}

// clientFile returns the file in which most clients have their servers.
func clientFile(url string) string {
	return "{\n  \"mcpServers\": {\n    \"NAME\": {\n      \"type\": \"http\",\n      \"url\": \"" + url + "\"\n    }\n  }\n}"
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
	if err := landingPage(s.endpointURL(r), c.Auth).Render(context.WithoutCancel(r.Context()), &page); err != nil {
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
