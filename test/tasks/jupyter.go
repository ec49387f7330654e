package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// jupyter is a Jupyter Server with a folder of its own. It wants a token, as every one does.
func jupyter(ctx context.Context, programs, dir string, s *service) error {
	host, port, err := net.SplitHostPort(s.address())
	if err != nil {
		return err
	}
	root, settings := filepath.Join(dir, "root"), filepath.Join(dir, "config")
	if err := emptied(root, settings); err != nil {
		return err
	}
	s.token = "token " + jupyterToken
	if err := s.start(ctx, environment([]string{
		"JUPYTER_CONFIG_DIR=" + settings, "JUPYTER_DATA_DIR=" + filepath.Join(dir, "data"), "JUPYTER_RUNTIME_DIR=" + filepath.Join(dir, "runtime"),
	}, filepath.Join(programs, "venv/bin/jupyter"), "server", "--no-browser", "--allow-root", "--ip="+host, "--port="+port, "--ServerApp.port_retries=0",
		"--ServerApp.root_dir="+root, "--IdentityProvider.token="+jupyterToken, "--ContentsManager.allow_hidden=False")); err != nil {
		return err
	}
	s.reset = func(ctx context.Context) error {
		for _, kind := range []struct{ path, member string }{{"/api/sessions", "id"}, {"/api/kernels", "id"}, {"/api/terminals", "name"}} {
			if err := s.deleteAll(ctx, http.MethodGet, kind.path, nil, kind.path+"/", kind.member); err != nil {
				return err
			}
		}
		return emptied(root, settings)
	}
	return s.await(ctx, "/api/status")
}

// jupyterToken opens a server that listens on loopback as long as the tasks last.
const jupyterToken = "tasks"

// emptied makes folders that are empty afterwards.
func emptied(folders ...string) error {
	for _, folder := range folders {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
