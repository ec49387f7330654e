package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Child is a running program.
type Child struct {
	name   string
	cmd    *exec.Cmd
	log    *tail
	exited chan struct{}
	err    error // set before exited is closed
}

// Start starts a program whose output is kept (its last 64 KiB) for error texts. The child ends with the context at
// the latest: it gets SIGTERM, and SIGKILL after five seconds.
func Start(ctx context.Context, name string, args ...string) (*Child, error) {
	return start(ctx, false, name, args)
}

// StartPiped is Start with a standard input that ends when this process does, for programs that end with it.
func StartPiped(ctx context.Context, name string, args ...string) (*Child, error) {
	return start(ctx, true, name, args)
}

func start(ctx context.Context, piped bool, name string, args []string) (*Child, error) {
	c := &Child{name: filepath.Base(name), log: &tail{}, exited: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, name, args...)
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = 5 * time.Second
	c.cmd.Stdout, c.cmd.Stderr = c.log, c.log
	if piped {
		if _, err := c.cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("start %q: %w", name, err)
		}
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %q: %w", name, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// PID is the child's process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Log is the end of what the child printed.
func (c *Child) Log() string { return c.log.String() }

// Exited is closed when the child has ended.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Stop ends the child: SIGTERM, and SIGKILL when it has not ended within ten seconds. It returns an error for a
// child that had to be killed or that ended with a code other than 0.
func (c *Child) Stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", c.name, err)
	}
	select {
	case <-c.exited:
	case <-time.After(10 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.exited
		return fmt.Errorf("%s did not end within 10 s of SIGTERM; its last words:\n%s", c.name, c.Log())
	}
	if c.err != nil {
		return fmt.Errorf("%s: %w; its last words:\n%s", c.name, c.err, c.Log())
	}
	return nil
}

// Ready asks the gateway whose admin listener has the address whether it is ready; nil: it is.
func Ready(ctx context.Context, admin string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/readyz", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("/readyz: " + resp.Status)
	}
	return nil
}

// AwaitGateway waits until the gateway whose admin listener has the address is ready. It gives up as Await does.
func (c *Child) AwaitGateway(ctx context.Context, admin string) error {
	return c.Await(ctx, func(ctx context.Context) error { return Ready(ctx, admin) })
}

// Await calls ready every few milliseconds until it returns nil. It gives up with the context, or when the child
// has ended.
func (c *Child) Await(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.exited:
			return fmt.Errorf("%s ended before it was ready (%w); its last words:\n%s", c.name, c.err, c.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (%w); its last words:\n%s", c.name, err, ctx.Err(), c.Log())
		case <-tick.C:
		}
	}
}

// FreeAddress returns a loopback address that nobody listened on a moment ago.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(p []byte) (int, error) {
	const most = 64 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	if over := t.text.Len() - most; over > most {
		t.text.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
