package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/test/process"
)

// interval is how often Prometheus scrapes and evaluates, half of what the chart sets.
const interval = 15 * time.Second

// monitor is a Prometheus with the rules of deploy/prometheus.
type monitor struct {
	address string
	child   *process.Child
}

// alert is one of Prometheus' alerts.
type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	State       string            `json:"state"` // pending or firing
}

// startMonitor starts a Prometheus that scrapes each pair as a job, and waits until it has scraped all.
func startMonitor(ctx context.Context, program, dir string, pairs []*pair) (*monitor, error) {
	rules, err := filepath.Abs("deploy/prometheus/alerts.yaml")
	if err != nil {
		return nil, err
	}
	var config strings.Builder
	fmt.Fprintf(&config, "global: {scrape_interval: %s, scrape_timeout: 5s, evaluation_interval: %s}\nrule_files: [%q]\nscrape_configs:\n", interval, interval, rules)
	for _, p := range pairs {
		fmt.Fprintf(&config, "  - {job_name: %s, static_configs: [{targets: [%q, %q]}]}\n", p.name, p.replicas[0].admin, p.replicas[1].admin)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		return nil, err
	}
	m := &monitor{}
	if m.address, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	if m.child, err = process.Start(ctx, program, "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "tsdb"), "--web.listen-address", m.address, "--log.level", "warn"); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, 4*interval)
	defer cancel()
	return m, m.child.Await(waiting, func(ctx context.Context) error {
		var found struct {
			Result []json.RawMessage `json:"result"`
		}
		if err := m.get(ctx, "query?query="+url.QueryEscape("count_over_time(drawbridge_ready[1m]) >= 2"), &found); err != nil {
			return err
		}
		if len(found.Result) < 2*len(pairs) {
			return fmt.Errorf("%d gateways are scraped, want %d", len(found.Result), 2*len(pairs))
		}
		return nil
	})
}

// get decodes the data of an answer of the HTTP API.
func (m *monitor) get(ctx context.Context, path string, data any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.address+"/api/v1/"+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	answer := struct{ Data any }{data}
	if err := json.Unmarshal(body, &answer); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/api/v1/%s: %s: %.200s", path, resp.Status, body)
	}
	return nil
}

// firing returns the alerts that fire.
func (m *monitor) firing(ctx context.Context) ([]alert, error) {
	var all struct {
		Alerts []alert `json:"alerts"`
	}
	if err := m.get(ctx, "alerts", &all); err != nil {
		return nil, err
	}
	var firing []alert
	for _, a := range all.Alerts {
		if a.State == "firing" {
			firing = append(firing, a)
		}
	}
	return firing, nil
}
