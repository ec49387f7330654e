package openapi

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHosts checks that the hosts of a document are those that it names for its readers, once each.
func TestHosts(t *testing.T) {
	for text, want := range map[string]string{
		`openapi: 3.1.0
info: {title: A, version: '1', termsOfService: 'https://terms.example/x', contact: {url: 'https://help.example'}, license: {name: MIT, url: 'https://mit.example/l'}}
externalDocs: {url: 'http://Docs.example:8080/a'}
servers: [{url: 'https://{region}.api.example/v1', variables: {region: {default: eu}}}, {url: /v2}]
tags: [{name: a, externalDocs: {url: 'https://tag.example'}}]
paths:
  /a:
    servers: [{url: 'https://path.example'}]
    get: {operationId: a, servers: [{url: 'https://eu.api.example'}], externalDocs: {url: 'https://op.example'}, responses: {'200': {description: ok}}}
`: "eu.api.example terms.example help.example mit.example docs.example tag.example path.example op.example",
		`swagger: '2.0'
info: {title: A, version: '1'}
host: old.example:8443
paths: {/a: {get: {responses: {'200': {description: ok}}}}}
`: "old.example",
		"openapi: 3.1.0\ninfo: {title: A, version: '1'}\nservers: [{url: 'https://{a}{a}{a}.example', variables: {a: {default: " + strings.Repeat("b", 1<<20) + "}}}]\npaths: {/a: {get: {responses: {'200': {description: ok}}}}}\n": "",
	} {
		file := filepath.Join(t.TempDir(), "api.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load(context.Background(), file, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		api, err := d.Compile(context.Background(), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(api.Hosts, " "); got != want {
			t.Errorf("%.80s: %q, want %q", text, got, want)
		}
	}
}
