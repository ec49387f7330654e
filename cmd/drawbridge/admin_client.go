package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
)

const (
	// adminTimeout is the timeout of a request to the admin listener of a running gateway.
	adminTimeout = 20 * time.Second
	// maxAdminAnswer is the maximum size of its answer in bytes.
	maxAdminAnswer = 64 << 20
)

// adminClient asks the admin listener of a running gateway.
type adminClient struct{ base *url.URL }

// parseAdminURL parses the value of --admin.
func parseAdminURL(command, raw string) (*adminClient, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s: --admin must be the http or https URL of an admin listener, such as http://localhost:9090; got %q", command, shownURL(u, raw))
	}
	return &adminClient{u}, nil
}

// adminFlag gives the flag --admin.
func adminFlag(c *cobra.Command, value *string) {
	c.Flags().StringVar(value, "admin", "", "`URL` of the admin listener of a running gateway, such as http://localhost:9090")
}

// shownURL returns a URL for an error, without a password.
func shownURL(u *url.URL, raw string) string {
	if u == nil {
		raw, _, _ = strings.Cut(raw, "?")
		return raw[:min(len(raw), 100)]
	}
	u.RawQuery = ""
	return u.Redacted()
}

// get reads a JSON answer.
func (a *adminClient) get(ctx context.Context, into any, path ...string) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	u := a.base.JoinPath(path...)
	resp, err := getDirectly(ctx, u.String())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the gateway: GET %s: %s; is this its admin listener?", u, resp.Status)
	}
	body := io.LimitReader(resp.Body, maxAdminAnswer)
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("ask the gateway: GET %s: the answer is not that of an admin listener: %w", u, err)
	}
	return nil
}

// getDirectly sends a GET to an admin listener, without a proxy: operators reach it directly. The connection ends with the body.
func getDirectly(ctx context.Context, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("ask the gateway: %w", err)
	}
	return resp, nil
}

// apiDrift is the drift of one API, as a running gateway has counted it.
type apiDrift struct {
	API   string         `json:"api"`
	Drift *gateway.Drift `json:"drift"` // nil if there is none
}

// drift returns the drift of the APIs of a running gateway, in its order, and the names of all of its APIs. wanted is the name of the only
// API that is wanted; "" for all.
func (a *adminClient) drift(ctx context.Context, wanted string) (all []apiDrift, names []string, err error) {
	var status gateway.AdminStatus
	if err := a.get(ctx, &status, "apis"); err != nil {
		return nil, nil, err
	}
	for _, api := range status.APIs {
		names = append(names, api.Name)
		if wanted != "" && api.Name != wanted {
			continue
		}
		found := apiDrift{API: api.Name}
		if api.Drift != nil {
			var report gateway.AdminReport
			if err := a.get(ctx, &report, "apis", api.Name); err != nil {
				return nil, nil, err
			}
			found.Drift = report.API.Drift
		}
		all = append(all, found)
	}
	return all, names, nil
}
