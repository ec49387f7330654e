package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peers returns the servers that are compared by their lists and requests alone. The folder python has a virtual environment for each of
// the two in Python, the folder npm the packages of package.json.
func peers(python, npm string) []program {
	return []program{awslabs(filepath.Join(python, "awslabs")), openAPIProxy(filepath.Join(python, "proxy")), ivotoby(npm), generator(npm)}
}

// pinned returns the versions of a Python package in an environment.
func pinned(environment, distribution string) func(context.Context) (string, error) {
	return output(filepath.Join(environment, "bin/python"), "-c", "import importlib.metadata as m; print(m.version('"+distribution+"'))")
}

func awslabs(environment string) program {
	return program{
		name:    "awslabs.openapi-mcp-server",
		version: pinned(environment, "awslabs.openapi-mcp-server"),
		stdio: func(_ context.Context, _, document, service string) (*exec.Cmd, error) {
			return exec.Command(filepath.Join(environment, "bin/awslabs.openapi-mcp-server"), "--api-name", "api", "--api-url", service, "--spec-path", document,
				"--allowed-spec-dirs", filepath.Dir(document), "--allow-insecure-http", "--allow-private-networks", "--log-level", "ERROR"), nil
		},
	}
}

func openAPIProxy(environment string) program {
	return program{
		name:    "mcp-openapi-proxy",
		version: pinned(environment, "mcp-openapi-proxy"),
		stdio: func(_ context.Context, _, document, service string) (*exec.Cmd, error) {
			c := exec.Command(filepath.Join(environment, "bin/mcp-openapi-proxy"))
			format := "yaml"
			if filepath.Ext(document) == ".json" {
				format = "json"
			}
			c.Env = append(os.Environ(), "OPENAPI_SPEC_URL=file://"+document, "OPENAPI_SPEC_FORMAT="+format, "SERVER_URL_OVERRIDE="+service)
			return c, nil
		},
	}
}

func ivotoby(npm string) program {
	return program{
		name:    "@ivotoby/openapi-mcp-server",
		version: output("node", "-p", "require('"+npm+"/node_modules/@ivotoby/openapi-mcp-server/package.json').version"),
		stdio: func(_ context.Context, _, document, service string) (*exec.Cmd, error) {
			return exec.Command("node", filepath.Join(npm, "node_modules/@ivotoby/openapi-mcp-server/bin/mcp-server.js"), "--transport", "stdio", "--api-base-url", service, "--openapi-spec", document), nil
		},
	}
}

// generator writes a program and compiles it: its start does not count that.
func generator(npm string) program {
	bin := func(name string) string { return filepath.Join(npm, "node_modules/.bin", name) }
	return program{
		name:    "openapi-mcp-generator",
		version: output(bin("openapi-mcp-generator"), "--version"),
		stdio: func(ctx context.Context, dir, document, service string) (*exec.Cmd, error) {
			project := filepath.Join(dir, "generated")
			for _, step := range [][]string{
				{bin("openapi-mcp-generator"), "--input", document, "--output", project, "--base-url", service, "--force"},
				{"ln", "-s", filepath.Join(npm, "node_modules"), filepath.Join(project, "node_modules")},
				{bin("tsc"), "--project", project},
			} {
				var out bytes.Buffer
				c := exec.CommandContext(ctx, step[0], step[1:]...)
				c.Stdout, c.Stderr = &out, &out
				if err := c.Run(); err != nil {
					return nil, fmt.Errorf("%s: %w: %.200s", filepath.Base(step[0]), err, strings.Join(strings.Fields(out.String()), " "))
				}
			}
			return exec.Command("node", filepath.Join(project, "build/index.js")), nil
		},
	}
}
