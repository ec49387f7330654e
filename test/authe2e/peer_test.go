package authe2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// peer is a Node program that takes commands, a line each; see lines.mjs. It is safe for concurrent use.
type peer struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has said its last

	mu      sync.Mutex // also orders writes
	stdin   io.WriteCloser
	next    int
	waiting map[int]chan<- answer
	stderr  bytes.Buffer
}

type answer struct {
	ID     int
	Result json.RawMessage
	Error  string
}

// startPeer starts a script of the folder into which the packages were installed, with its arguments.
func startPeer(folder string, script []string, env ...string) (*peer, error) {
	p := &peer{name: script[0], ended: make(chan struct{}), waiting: make(map[int]chan<- answer)}
	p.cmd = exec.Command(nodeIn(folder), append([]string{filepath.Join(folder, script[0])}, script[1:]...)...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = lockedWriter{&p.mu, &p.stderr}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	go p.listen(stdout)
	return p, nil
}

// nodeIn is the Node that was installed with the packages.
func nodeIn(folder string) string {
	return filepath.Join(folder, "node_modules", "node", "bin", "node")
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (p *peer) listen(stdout io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			a.Error = fmt.Sprintf("not an answer: %q", lines.Text())
		}
		p.mu.Lock()
		to := p.waiting[a.ID]
		delete(p.waiting, a.ID)
		p.mu.Unlock()
		if to != nil {
			to <- a
		}
	}
}

// do runs a command and decodes its result into out, unless that is nil.
func (p *peer) do(ctx context.Context, run string, given map[string]any, out any) error {
	got := make(chan answer, 1)
	p.mu.Lock()
	p.next++
	line := map[string]any{"id": p.next, "run": run}
	for name, value := range given {
		line[name] = value
	}
	text, err := json.Marshal(line)
	if err == nil {
		p.waiting[p.next] = got
		_, err = p.stdin.Write(append(text, '\n'))
	}
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s %s: %w", p.name, run, err)
	}
	select {
	case a := <-got:
		if a.Error != "" {
			return fmt.Errorf("%s %s: %s", p.name, run, a.Error)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(a.Result, out)
	case <-p.ended:
		return fmt.Errorf("%s %s: the program has ended", p.name, run)
	case <-ctx.Done():
		return fmt.Errorf("%s %s: %w", p.name, run, ctx.Err())
	}
}

// close ends the program, by its input and, if it does not hear, by force. It returns what it complained of.
func (p *peer) close() (complaints string, err error) {
	err = p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		err = errors.Join(err, fmt.Errorf("%s did not end with its input", p.name), p.cmd.Process.Kill())
	}
	waited := make(chan error, 1)
	go func() {
		<-p.ended
		waited <- p.cmd.Wait()
	}()
	select {
	case fault := <-waited:
		err = errors.Join(err, fault)
	case <-time.After(time.Minute):
		err = errors.Join(err, fmt.Errorf("%s is still there, or what it started holds its output", p.name))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String(), err
}
