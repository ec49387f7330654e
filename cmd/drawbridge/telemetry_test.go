package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCgroupMemory: the least limit on the way to the root counts, of both versions of control groups.
func TestCgroupMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"none":                {nil, 0},
		"version 2":           {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		"without a limit":     {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		"of a service":        {map[string]string{"proc/self/cgroup": "0::/system.slice/d.service\n", "sys/fs/cgroup/system.slice/d.service/memory.max": "1000\n"}, 1000},
		"of what holds it":    {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n", "sys/fs/cgroup/a/memory.max": "500\n"}, 500},
		"version 1":           {map[string]string{"proc/self/cgroup": "3:cpu:/x\n2:memory:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "700\n"}, 700},
		"version 1, no limit": {map[string]string{"proc/self/cgroup": "2:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"not to be read":      {map[string]string{"proc/self/cgroup": "x\n0::/../..\n", "sys/fs/cgroup/memory.max": "-1\n"}, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := cgroupMemory(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
