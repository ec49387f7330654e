package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
)

// prefect is a Prefect server with a database of its own, without the services that work in the background: they would change the state of
// runs by the clock.
func prefect(ctx context.Context, programs, dir string, s *service) error {
	host, port, err := net.SplitHostPort(s.address())
	if err != nil {
		return err
	}
	if err := s.start(ctx, environment([]string{
		"PREFECT_HOME=" + dir, "PREFECT_PROFILES_PATH=" + filepath.Join(dir, "profiles.toml"),
		"PREFECT_API_DATABASE_CONNECTION_URL=sqlite+aiosqlite:///" + filepath.Join(dir, "prefect.db"),
		"PREFECT_SERVER_DATABASE_TIMEOUT=60", "PREFECT_SERVER_ANALYTICS_ENABLED=false", "DO_NOT_TRACK=1",
	}, filepath.Join(programs, "venv/bin/prefect"), "server", "start", "--no-services", "--host", host, "--port", port)); err != nil {
		return err
	}
	s.reset = func(ctx context.Context) error { return resetPrefect(ctx, s) }
	return s.await(ctx, "/api/health")
}

// resetPrefect deletes all that tasks make. A flow takes its deployments and runs along, and a work pool its queues.
func resetPrefect(ctx context.Context, s *service) error {
	for _, kind := range []struct{ path, name, member string }{
		{"flows", "flows", "id"}, {"work_pools", "work_pools", "name"}, {"variables", "variables", "id"}, {"automations", "automations", "id"},
		{"v2/concurrency_limits", "concurrency_limits", "id"}, {"concurrency_limits", "concurrency_limits", "id"},
		{"block_documents", "block_documents", "id"}, {"artifacts", "artifacts", "id"}, {"saved_searches", "saved_searches", "id"},
	} {
		if err := s.deleteAll(ctx, http.MethodPost, "/api/"+kind.path+"/filter", map[string]any{}, "/api/"+kind.path+"/", kind.member); err != nil {
			return fmt.Errorf("reset %s: %w", kind.name, err)
		}
	}
	return nil
}
