package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/test/process"
)

// gateway is the program under test, in front of a registry.
type gateway struct {
	*process.Child
	url, admin string
}

func start(ctx context.Context, binary, dir string, r registry) (*gateway, error) {
	listen, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "drawbridge.yaml")
	text := fmt.Sprintf(`server: {listen: %q}
admin: {listen: %q}
limits: {address_rate: {rate: 100000/s, burst: 100000}, principal_rate: {rate: 100000/s, burst: 100000}}
discovery:
  - {name: shop, %s, approve: auto, max_loss: 100, allow_addresses: [127.0.0.0/8, 198.18.0.0/15]}
`, listen, admin, r.provider())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	child, err := process.Start(ctx, binary, "serve", "--config", file, "--log-format", "json")
	if err != nil {
		return nil, err
	}
	return &gateway{Child: child, url: "http://" + listen + "/mcp", admin: "http://" + admin}, nil
}

// call calls a tool and returns an error unless its service has answered.
func (g *gateway) call(ctx context.Context, tool string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && !strings.Contains(string(text), `"structuredContent":{"by":`) {
		err = fmt.Errorf("%s: status %d: %.300s", tool, resp.StatusCode, text)
	}
	return err
}

// until returns how long it takes until calls of a tool succeed, or fail.
func (g *gateway) until(ctx context.Context, tool string, succeeds bool) (time.Duration, error) {
	began := time.Now()
	for {
		err := g.call(ctx, tool)
		if (err == nil) == succeeds {
			return time.Since(began), nil
		}
		if time.Since(began) > time.Minute {
			return 0, fmt.Errorf("after a minute, tool %s: %w", tool, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// load calls a tool without pause until stop is called, which returns the numbers of calls and of those that failed.
func (g *gateway) load(ctx context.Context, tool string) (stop func() (calls, failed int64, first error)) {
	ctx, cancel := context.WithCancel(ctx)
	var calls, failed atomic.Int64
	var first atomic.Pointer[error]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := g.call(context.WithoutCancel(ctx), tool); err != nil {
					failed.Add(1)
					first.CompareAndSwap(nil, &err)
				}
				calls.Add(1)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	return func() (int64, int64, error) {
		cancel()
		wg.Wait()
		if err := first.Load(); err != nil {
			return calls.Load(), failed.Load(), *err
		}
		return calls.Load(), failed.Load(), nil
	}
}

func (g *gateway) status(ctx context.Context) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.admin+"/apis", http.NoBody)
	if err != nil {
		return err.Error()
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

func residentMiB(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib >> 10
		}
	}
	return 0
}
