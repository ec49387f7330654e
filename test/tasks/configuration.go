package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// configuration is what an operator has added to the configuration of the first day.
type configuration struct {
	overlays map[string]string // files by the name of the API
	rules    []string          // lines of YAML
}

// configure writes the gateway's configuration: the APIs as an operator who meets them for the first time configures them, documents and a
// credential, with what was added. server are lines that are put before it.
func (w *world) configure(s *settings, c configuration, server string) (file string, err error) {
	token := filepath.Join(w.dir, "jupyter.token")
	if err := os.WriteFile(token, []byte(w.services["jupyter"].token), 0o600); err != nil {
		return "", err
	}
	var apis []any
	for _, api := range []map[string]any{
		{"name": "prefect", "spec": w.services["prefect"].url + "/api/openapi.json"},
		{"name": "mailpit", "spec": w.services["mailpit"].url + "/api/v1/swagger.json"},
		{"name": "jupyter", "spec": filepath.Join(s.programs, "jupyter.yaml"), "base_url": w.services["jupyter"].url,
			"credential": map[string]any{"type": "api_key", "in": "header", "name": "Authorization", "value": "${file:" + token + "}"}},
		{"name": "alertmanager", "spec": filepath.Join(s.programs, "alertmanager.yaml"), "base_url": w.services["alertmanager"].url + "/api/v2"},
	} {
		if overlay, ok := c.overlays[fmt.Sprint(api["name"])]; ok {
			api["overlays"] = []string{overlay}
		}
		apis = append(apis, api)
	}
	text := server + "tools: " + s.tools + "\napis: " + compact(apis) + "\n"
	if len(c.rules) > 0 {
		text += "rules:\n" + strings.Join(c.rules, "\n") + "\n"
	}
	file = filepath.Join(w.dir, "drawbridge.yaml")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// mend returns what "drawbridge score --fix" finds: an overlay for each document, and the rules by which members of bodies may have other
// types than declared. Whether an operation only reads is left to who knows the services.
func (w *world) mend(ctx context.Context, s *settings) (c configuration, err error) {
	file, err := w.configure(s, c, "")
	if err != nil {
		return c, err
	}
	c.overlays = map[string]string{}
	for _, api := range []string{"prefect", "mailpit", "jupyter", "alertmanager"} {
		out, err := output(ctx, s.gateway, "score", "--config", file, "--api", api, "--fix", filepath.Join(w.dir, api+".overlay.yaml"), "--json")
		if err != nil {
			return c, err
		}
		var result struct {
			APIs []struct {
				Score   float64
				Overlay struct {
					File     string
					Changes  int
					Score    float64
					Settings []string
				}
			}
		}
		if err := json.Unmarshal(out, &result); err != nil || len(result.APIs) != 1 {
			return c, fmt.Errorf("score of %s: %.300s: %w", api, out, err)
		}
		fix, rules := result.APIs[0].Overlay, 0
		if fix.File != "" {
			c.overlays[api] = fix.File
		}
		for _, line := range fix.Settings {
			if strings.Contains(line, "{validation: lenient}") {
				c.rules = append(c.rules, line)
				rules++
			}
		}
		fmt.Printf("%s: score %.1f, with %d changes of --fix and %d rules %.1f\n", api, result.APIs[0].Score, fix.Changes, rules, fix.Score)
	}
	return c, nil
}
