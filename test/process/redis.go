package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"
)

// ErrNoRedis tells that redis-server, of Debian's package of that name, is not installed.
var ErrNoRedis = errors.New("redis-server is not installed")

// Redis is a redis-server on a loopback port, which keeps nothing on disk.
type Redis struct {
	*Child
	// Address is host:port, the same after each start.
	Address string
	dir     string
	args    []string
}

// StartRedis starts one in a directory, and returns when it answers. args are further arguments, of which later ones win; $PORT in them
// is the port.
func StartRedis(ctx context.Context, dir string, args ...string) (*Redis, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, ErrNoRedis
	}
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	r := &Redis{Address: address, dir: dir, args: args}
	return r, r.Start(ctx)
}

// Start starts it again after [Redis.Kill].
func (r *Redis) Start(ctx context.Context) error {
	host, port, err := net.SplitHostPort(r.Address)
	if err != nil {
		return err
	}
	args := []string{"--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", r.dir}
	for _, arg := range r.args {
		args = append(args, strings.ReplaceAll(arg, "$PORT", port))
	}
	if r.Child, err = Start(ctx, "redis-server", args...); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return r.Await(waiting, func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.Address)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// Kill ends it as a crash would: SIGKILL.
func (r *Redis) Kill() error {
	if err := r.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill redis-server: %w", err)
	}
	<-r.Exited()
	return nil
}
