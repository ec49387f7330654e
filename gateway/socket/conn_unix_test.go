//go:build unix

package socket

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// pair is a connection of package net, and its other end.
func pair(t *testing.T) (here, there *net.TCPConn) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var d net.Dialer
	a, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

func direct(t *testing.T, conn *net.TCPConn) *Conn {
	t.Helper()
	c, ok := Direct(conn).(*Conn)
	if !ok {
		t.Fatalf("Direct(%T) is no *Conn", conn)
	}
	return c
}

// told is what a read or a write has returned, without what differs between two connections.
func told(conn net.Conn, n int, err error) string {
	if err == nil {
		return fmt.Sprintf("%d", n)
	}
	text := strings.NewReplacer(conn.LocalAddr().String(), "here", conn.RemoteAddr().String(), "there").Replace(err.Error())
	var timeout net.Error
	is := []string{fmt.Sprintf("%T", err)}
	for _, target := range []error{io.EOF, net.ErrClosed, os.ErrDeadlineExceeded, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, target) {
			is = append(is, fmt.Sprintf("is %v", target))
		}
	}
	if errors.As(err, &timeout) && timeout.Timeout() {
		is = append(is, "a timeout")
	}
	return fmt.Sprintf("%d, %s (%s)", n, text, strings.Join(is, ", "))
}

func TestAsPackageNet(t *testing.T) {
	read := func(n int) func(*testing.T, net.Conn, *net.TCPConn) string {
		return func(_ *testing.T, conn net.Conn, _ *net.TCPConn) string {
			p := make([]byte, n)
			n, err := conn.Read(p)
			return told(conn, n, err) + " " + string(p[:n])
		}
	}
	write := func(text string) func(*testing.T, net.Conn, *net.TCPConn) string {
		return func(_ *testing.T, conn net.Conn, _ *net.TCPConn) string {
			n, err := conn.Write([]byte(text))
			return told(conn, n, err)
		}
	}
	says := func(text string) func(*testing.T, net.Conn, *net.TCPConn) string {
		return func(t *testing.T, _ net.Conn, there *net.TCPConn) string {
			if _, err := there.Write([]byte(text)); err != nil {
				t.Error(err)
			}
			return ""
		}
	}
	hears := func(n int) func(*testing.T, net.Conn, *net.TCPConn) string {
		return func(t *testing.T, _ net.Conn, there *net.TCPConn) string {
			p := make([]byte, n)
			if _, err := io.ReadFull(there, p); err != nil {
				t.Error(err)
			}
			return string(p)
		}
	}
	ends := func(_ *testing.T, _ net.Conn, there *net.TCPConn) string { there.Close(); return "" }
	halfCloses := func(_ *testing.T, _ net.Conn, there *net.TCPConn) string { return fmt.Sprint(there.CloseWrite()) }
	resets := func(_ *testing.T, _ net.Conn, there *net.TCPConn) string {
		_ = there.SetLinger(0)
		there.Close()
		return ""
	}
	closes := func(_ *testing.T, conn net.Conn, _ *net.TCPConn) string { conn.Close(); return "" }
	late := func(_ *testing.T, conn net.Conn, _ *net.TCPConn) string {
		return fmt.Sprint(conn.SetDeadline(time.Unix(1, 0)))
	}
	inTime := func(_ *testing.T, conn net.Conn, _ *net.TCPConn) string {
		return fmt.Sprint(conn.SetDeadline(time.Time{}))
	}
	soon := func(_ *testing.T, conn net.Conn, _ *net.TCPConn) string {
		return fmt.Sprint(conn.SetDeadline(time.Now().Add(20 * time.Millisecond)))
	}
	fills := func(_ *testing.T, conn net.Conn, _ *net.TCPConn) string { // until the deadline
		for {
			switch n, err := conn.Write(make([]byte, 32<<10)); {
			case err != nil:
				return strings.TrimLeft(told(conn, n, err), "0123456789")
			case n != 32<<10:
				return "only a part was written, without an error"
			}
		}
	}
	for name, steps := range map[string][]func(*testing.T, net.Conn, *net.TCPConn) string{
		"reads and writes":                  {says("hello"), read(3), read(3), write("there"), hears(5)},
		"nothing":                           {read(0), write("")},
		"nothing after the end":             {ends, read(0), read(1), read(0)},
		"an end":                            {says("x"), ends, read(9), read(9), read(9)},
		"half an end":                       {says("x"), halfCloses, read(9), read(9), write("still"), hears(5)},
		"a reset":                           {resets, read(9), write("x"), write("x")},
		"closed here":                       {closes, read(9), write("x"), read(0), write("")},
		"too late":                          {says("x"), late, read(9), write("x"), inTime, read(9), write("x"), hears(1)},
		"nothing comes in time":             {soon, read(9), inTime, says("x"), read(9)},
		"no room in time":                   {soon, fills, inTime},
		"longer than what is moved at once": {says("x"), read(longest + 1), write(strings.Repeat("y", longest+1)), hears(longest + 1)},
		"as long as what is moved at once":  {write(strings.Repeat("y", longest)), hears(longest), says("x"), read(longest)},
	} {
		t.Run(name, func(t *testing.T) {
			var got, want []string
			here, there := pair(t)
			for _, step := range steps {
				want = append(want, step(t, here, there))
			}
			here, there = pair(t)
			conn := direct(t, here)
			for _, step := range steps {
				got = append(got, step(t, conn, there))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant, as package net tells,\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestWaits(t *testing.T) {
	here, there := pair(t)
	conn := direct(t, here)
	text := make([]byte, 16<<20) // more than two sockets hold
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	sum := sha256.Sum256(text)
	var both sync.WaitGroup
	defer timebox.Done(t, both.Wait)
	both.Go(func() { // sends it back
		if n, err := io.Copy(struct{ io.Writer }{there}, struct{ io.Reader }{there}); n != int64(len(text)) || err != nil {
			t.Errorf("%d bytes of %d were sent back: %v", n, len(text), err)
		}
		there.Close()
	})
	both.Go(func() {
		for size, rest := 1, text; len(rest) > 0; size = size*3%(longest+8) + 1 {
			piece := rest[:min(size, len(rest))]
			if n, err := conn.Write(piece); n != len(piece) || err != nil {
				t.Errorf("%d bytes of %d were written: %v", n, len(piece), err)
				return
			}
			rest = rest[len(piece):]
		}
		if err := conn.CloseWrite(); err != nil {
			t.Error(err)
		}
	})
	hash := sha256.New()
	if _, err := io.CopyBuffer(hash, struct{ io.Reader }{conn}, make([]byte, 10_000)); err != nil {
		t.Fatal(err)
	}
	if got := hash.Sum(nil); !bytes.Equal(got, sum[:]) {
		t.Errorf("other bytes came back")
	}
}

// TestShortIsDirect: what is short, and nothing else, is moved without package net; and no buffer is kept.
func TestShortIsDirect(t *testing.T) {
	here, there := pair(t)
	conn := direct(t, here)
	if _, err := there.Write(make([]byte, longest)); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, longest, longest + 1} {
		const untouched = -1
		want := size
		if size == 0 || size > longest {
			want = untouched
		}
		conn.out.n, conn.in.n = untouched, untouched
		if n, err := conn.Write(make([]byte, size)); n != size || err != nil {
			t.Fatalf("Write of %d bytes: %d, %v", size, n, err)
		}
		if conn.out.n != want || conn.out.rest != nil {
			t.Errorf("Write of %d bytes: %d were moved directly, want %d; %d bytes are kept", size, conn.out.n, want, len(conn.out.rest))
		}
		if _, err := io.CopyN(io.Discard, there, int64(size)); err != nil {
			t.Fatal(err)
		}
		if _, err := there.Write(make([]byte, 1)); err != nil { // there is something in any case
			t.Fatal(err)
		}
		n, err := conn.Read(make([]byte, size))
		if err != nil {
			t.Fatal(err)
		}
		if want != untouched {
			want = n
		}
		if conn.in.n != want || conn.in.rest != nil {
			t.Errorf("Read of %d bytes: %d were moved directly, want %d; %d bytes are kept", size, conn.in.n, want, len(conn.in.rest))
		}
	}
}

// TestSlowIsNotDirect: what had to wait for room is written by package net, until the other side sends something.
func TestSlowIsNotDirect(t *testing.T) {
	here, there := pair(t)
	conn := direct(t, here)
	go func() {
		for !conn.out.waits.Load() {
			runtime.Gosched()
		}
		_, _ = io.Copy(io.Discard, there)
	}()
	for !conn.out.waits.Load() {
		if _, err := conn.Write(make([]byte, longest)); err != nil {
			t.Fatal(err)
		}
	}
	conn.out.n = -1
	if n, err := conn.Write([]byte("x")); n != 1 || err != nil || conn.out.n != -1 {
		t.Errorf("%d, %v; %d bytes were moved directly", n, err, conn.out.n)
	}
	if _, err := there.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Write([]byte("x")); n != 1 || err != nil || conn.out.n != 1 {
		t.Errorf("%d, %v; %d bytes were moved directly after it had sent something", n, err, conn.out.n)
	}
	conn.Close()
}

func TestClosedMeanwhile(t *testing.T) {
	here, _ := pair(t)
	conn := direct(t, here)
	failed := make(chan string, 2)
	for range 2 { // one waits for bytes, the other for its turn
		go func() {
			n, err := conn.Read(make([]byte, 1))
			failed <- told(conn, n, err)
		}()
	}
	conn.Close()
	const want = "0, read tcp here->there: use of closed network connection (*net.OpError, is use of closed network connection)"
	for range 2 {
		if got := timebox.Receive(t, failed); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestManyWriters(t *testing.T) {
	here, there := pair(t)
	conn := direct(t, here)
	const writers, times, size = 8, 50, 3000
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range times {
				if _, err := conn.Write(bytes.Repeat([]byte{byte('a' + i)}, size)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer timebox.Done(t, all.Wait)
	p := make([]byte, size)
	for range writers * times {
		if _, err := io.ReadFull(there, p); err != nil {
			t.Fatal(err)
		}
		if strings.Trim(string(p), string(p[:1])) != "" {
			t.Fatalf("two writes were mixed: %.40q", p)
		}
	}
}

func TestIsQuiet(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(conn *Conn, there *net.TCPConn)
		want    bool
	}{
		"nothing":               {func(*Conn, *net.TCPConn) {}, true},
		"nothing, looked at":    {func(conn *Conn, _ *net.TCPConn) { conn.IsQuiet() }, true},
		"a byte":                {func(_ *Conn, there *net.TCPConn) { _, _ = there.Write([]byte("x")) }, false},
		"an end":                {func(_ *Conn, there *net.TCPConn) { there.Close() }, false},
		"half an end":           {func(_ *Conn, there *net.TCPConn) { _ = there.CloseWrite() }, false},
		"a reset":               {func(_ *Conn, there *net.TCPConn) { _ = there.SetLinger(0); there.Close() }, false},
		"closed here":           {func(conn *Conn, _ *net.TCPConn) { conn.Close() }, false},
		"closed, looked at":     {func(conn *Conn, _ *net.TCPConn) { conn.IsQuiet(); conn.Close() }, false},
		"the time is over":      {func(conn *Conn, _ *net.TCPConn) { _ = conn.SetReadDeadline(time.Unix(1, 0)) }, false},
		"a deadline is to come": {func(conn *Conn, _ *net.TCPConn) { _ = conn.SetReadDeadline(time.Now().Add(time.Hour)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := pair(t)
			conn := direct(t, here)
			c.happens(conn, there)
			if got := conn.IsQuiet(); got != c.want {
				t.Errorf("IsQuiet() = %v, want %v", got, c.want)
			}
		})
	}
}

func TestDirectOfOthers(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	here, _ := pair(t)
	conn := direct(t, here)
	datagrams, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "socket"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	for name, c := range map[string]net.Conn{"a pipe": a, "one that is direct": conn, "datagrams": datagrams, "one that somebody else reads": struct{ *net.TCPConn }{here}} {
		if got := Direct(c); got != c {
			t.Errorf("%s: Direct gives a %T", name, got)
		}
	}
}

func TestAllocations(t *testing.T) {
	here, there := pair(t)
	conn, peer := direct(t, here), direct(t, there)
	p := make([]byte, 1<<10)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := peer.Write(p); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, p); err != nil {
			t.Fatal(err)
		}
		if !conn.IsQuiet() {
			t.Fatal("something more has come")
		}
	}); n != 0 {
		t.Errorf("a write, a read and a look allocate %v times", n)
	}
}
