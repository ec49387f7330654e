package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// tokenVariable is the environment variable with the bearer token of the user.
const tokenVariable = "DRAWBRIDGE_TOKEN"

// maxUploadAnswer is the maximum size in bytes of the answer to an upload.
const maxUploadAnswer = 64 << 10

// upload is the upload of a file as flags have it.
type upload struct {
	url, tokenFile, name, mediaType string
}

func (p *program) uploadCommand() *cobra.Command {
	var u upload
	c := &cobra.Command{
		Use:   "upload FILE",
		Short: "Send a file to a running gateway, for tools that take files",
		Long: `Upload sends a file to a gateway that keeps files, and prints its URI. Tools that take a file take the URI in place of the
content, until the file expires.

The bearer token is that of the environment variable ` + tokenVariable + `, or of the file of --token-file. It is sent over https
only, except to loopback addresses.

Exit codes: 0 on success; 1 if the file was not stored; 2 on bad usage.`,
		Example: `  drawbridge upload invoice.pdf --url https://mcp.example.com
  drawbridge upload export.csv --url https://mcp.example.com --token-file ~/.mcp-token --name march.csv`,
	}
	c.Flags().StringVar(&u.url, "url", "", "`URL` of the gateway, such as https://mcp.example.com")
	c.Flags().StringVar(&u.tokenFile, "token-file", "", "`FILE` with the bearer token (default: the variable "+tokenVariable+")")
	c.Flags().StringVar(&u.name, "name", "", "`NAME` of the file at the gateway (default: that of FILE)")
	c.Flags().StringVar(&u.mediaType, "type", "", "media `TYPE` (default: by the extension, and by the bytes)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{errors.New("upload: give one file"), c}
		}
		target, err := uploadURL(u.url)
		if err != nil {
			return usageError{err, c}
		}
		token, err := p.bearerToken(u.tokenFile)
		if err != nil {
			return usageError{err, c}
		}
		return p.upload(c, args[0], target, token, &u)
	}
	return c
}

// uploadURL returns the URL to which files are sent, from that of a gateway or of its MCP endpoint.
func uploadURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("upload: --url must be the http or https URL of a gateway, such as https://mcp.example.com; got %q", shownURL(u, raw))
	}
	if address, err := netip.ParseAddr(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (err != nil || !address.IsLoopback()) {
		return nil, fmt.Errorf("upload: --url must be an https URL, since the token is sent to it; got %q", u)
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/mcp")
	return u.JoinPath("files"), nil
}

// bearerToken returns the token of a file or of the environment; "" if there is none, for gateways without auth.
func (p *program) bearerToken(file string) (string, error) {
	if file == "" {
		return strings.TrimSpace(p.getenv(tokenVariable)), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("upload: --token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("upload: --token-file: %s must have one token and nothing else", file)
	}
	return token, nil
}

// upload sends a file and prints its URI.
func (p *program) upload(c *cobra.Command, path string, target *url.URL, token string, u *upload) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("upload: %s is not a regular file", path)
	}
	r, err := http.NewRequestWithContext(c.Context(), http.MethodPost, target.String(), io.LimitReader(f, info.Size()))
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	r.ContentLength = info.Size()
	if info.Size() == 0 {
		r.Body = http.NoBody
	}
	name := cmp.Or(u.name, filepath.Base(path))
	r.Header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	r.Header.Set("Content-Type", cmp.Or(u.mediaType, mime.TypeByExtension(filepath.Ext(name)), "application/octet-stream"))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	// The token is for this gateway alone.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxUploadAnswer))
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	var stored struct{ URI string }
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("upload: %s accepts no such token: set %s or --token-file", target.Host, tokenVariable)
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("upload: %s keeps no files, or is no gateway", target)
	case resp.StatusCode != http.StatusCreated:
		return fmt.Errorf("upload: %s answered %s: %s", target.Host, resp.Status, strings.TrimSpace(string(text)))
	}
	if err := json.Unmarshal(text, &stored); err != nil || stored.URI == "" {
		return fmt.Errorf("upload: %s is no gateway: it answered without a URI", target)
	}
	_, err = fmt.Fprintln(p.stdout, stored.URI)
	return err
}
