package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

const (
	// limit is how long a screen may take to show what is waited for.
	limit = time.Minute
	poll  = 20 * time.Millisecond
)

// session is a shell in a terminal.
type session struct {
	socket, dir   string
	service       *service
	listen, admin string // of the gateway
	norm          *normalizer
	screens       []txtar.File
}

// runSession plays a session and returns its screens.
func runSession(program string, archive *txtar.Archive) (_ []txtar.File, err error) {
	dir, err := os.MkdirTemp("", "drawbridge-tty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := &session{dir: dir, socket: filepath.Join(dir, "tmux"), service: startService()}
	defer s.service.close()
	if s.listen, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.admin, err = freeAddress(); err != nil {
		return nil, err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	var script string
	for _, f := range archive.Files {
		switch {
		case f.Name == "script":
			script = string(f.Data)
		case !strings.HasPrefix(f.Name, screenPrefix):
			if err := os.WriteFile(filepath.Join(work, f.Name), []byte(s.expand(string(f.Data))), 0o600); err != nil {
				return nil, err
			}
		}
	}
	s.norm = newNormalizer(work)
	width, height := "100", "60"
	steps := strings.Split(strings.TrimSpace(script), "\n")
	if size, ok := strings.CutPrefix(steps[0], "size "); ok {
		width, height, _ = strings.Cut(size, " ")
		steps = steps[1:]
	}
	if err := s.start(program, work, width, height); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	for n, step := range steps {
		if err := s.step(strings.TrimSpace(step)); err != nil {
			return s.screens, fmt.Errorf("step %d, %q: %w", n+1, step, err)
		}
	}
	return s.screens, nil
}

func (s *session) expand(text string) string {
	return strings.NewReplacer("$SERVICE", s.service.url(), "$ADDRESS", strings.TrimPrefix(s.service.url(), "http://"), "$LISTEN", s.listen, "$ADMIN", s.admin).Replace(text)
}

// tmux runs a command of tmux.
func (s *session) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", s.socket, "-f", os.DevNull}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// start opens the terminal. The shell has an environment of its own: the screens must not depend on that of the caller.
func (s *session) start(program, work, width, height string) error {
	if _, err := strconv.Atoi(width + height); err != nil {
		return fmt.Errorf("size %s %s: %w", width, height, err)
	}
	_, err := s.tmux("-u", "new-session", "-d", "-x", width, "-y", height, "-c", work,
		"env", "-i", "HOME="+work, "TERM=screen", "LANG=C.UTF-8", "PS1=$ ", "SHOP_KEY=harbour-2009", "PATH="+filepath.Dir(program)+":/usr/bin:/bin", "sh")
	if err != nil {
		return err
	}
	return s.wait("$")
}

// end ends the shell, and with it whatever runs in it.
func (s *session) end() error {
	_, err := s.tmux("kill-server")
	return err
}

func (s *session) step(step string) error {
	name, argument, _ := strings.Cut(step, " ")
	argument = s.expand(argument)
	switch name {
	case "", "#":
		return nil
	case "type":
		if _, err := s.tmux("send-keys", "-l", argument); err != nil {
			return err
		}
		// The line stands there before it is sent: a screen that is still as it was is not taken for what the line leads to.
		err := s.await(strconv.Quote(argument), func(screen string) bool {
			return strings.Contains(strings.ReplaceAll(screen, "\n", ""), argument)
		})
		if err != nil {
			return err
		}
		_, err = s.tmux("send-keys", "Enter")
		return err
	case "key":
		_, err := s.tmux("send-keys", argument)
		return err
	case "prompt":
		return s.prompt()
	case "clear":
		if err := s.step("type clear"); err != nil {
			return err
		}
		return s.await("an empty screen", func(screen string) bool { return strings.TrimSpace(screen) == "$" })
	case "wait":
		return s.wait(argument)
	case "call":
		return s.service.call("http://"+s.listen+"/mcp", argument)
	case "release":
		s.service.release()
		return nil
	case "screen":
		text, err := s.screen()
		s.screens = append(s.screens, txtar.File{Name: screenPrefix + argument, Data: []byte(s.norm.text(text))})
		if _, clear := s.tmux("clear-history"); clear != nil {
			err = errors.Join(err, clear)
		}
		return err
	}
	return errors.New("there is no such step")
}

// screen returns what the terminal shows.
func (s *session) screen() (string, error) { return s.tmux("capture-pane", "-p") }

// wait returns when the screen has the text.
func (s *session) wait(text string) error {
	return s.await(strconv.Quote(text), func(screen string) bool { return strings.Contains(screen, text) })
}

// atPrompt matches a screen whose last line is a prompt, maybe after the echo of Ctrl-C.
var atPrompt = regexp.MustCompile(`(?m)^(\^C)?\$\s*\z`)

// prompt returns when the shell waits for a command.
func (s *session) prompt() error {
	return s.await("a prompt", func(screen string) bool { return atPrompt.MatchString(screen) })
}

// await returns when the screen is as it should be.
func (s *session) await(what string, done func(screen string) bool) error {
	var last string
	for begin := time.Now(); time.Since(begin) < limit; time.Sleep(poll) {
		screen, err := s.screen()
		if err != nil {
			return err
		}
		if done(screen) {
			return nil
		}
		last = screen
	}
	return fmt.Errorf("the screen does not show %s within %s; it shows\n%s", what, limit, last)
}

// freeAddress is an address on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
