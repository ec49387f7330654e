package main

import (
	"context"
	"os"
	"path/filepath"
)

// alertmanagerRoutes sends alerts to the team of their label.
const alertmanagerRoutes = `route:
  receiver: operations
  group_by: [alertname]
  routes:
    - {receiver: database, matchers: ['team="database"']}
    - {receiver: web, matchers: ['team="web"']}
receivers: [{name: operations}, {name: database}, {name: web}]
`

// alertmanager is an Alertmanager without a cluster. Silences can't be deleted, only expired, so that each reset is a start with an empty
// folder.
func alertmanager(lifetime context.Context, programs, dir string, s *service) error {
	config := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(config, []byte(alertmanagerRoutes), 0o600); err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	s.reset = func(ctx context.Context) error {
		if s.child != nil {
			if err := s.child.Stop(); err != nil {
				return err
			}
		}
		if err := emptied(data); err != nil {
			return err
		}
		if err := s.start(lifetime, []string{filepath.Join(programs, "alertmanager"), "--config.file=" + config, "--storage.path=" + data,
			"--web.listen-address=" + s.address(), "--cluster.listen-address="}); err != nil {
			return err
		}
		return s.await(ctx, "/api/v2/status")
	}
	return s.reset(lifetime)
}
